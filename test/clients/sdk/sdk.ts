import { Configuration, type RequestStatusMetadata, waitForRequest } from "@ionos-cloud/sdk-nodejs";
import { expect } from "vitest";
import { platformForFile } from "../../simulator/platform.ts";

/** The result of every SDK method. */
export interface Answer<Data> {
  status: number;
  headers: Record<string, string>;
  data: Data;
}

/** The methods of the SDK for one kind of resource. */
export interface Methods {
  create(name: string): Promise<Answer<{ id?: string }>>;
  find(id: string): Promise<Answer<{ properties?: object }>>;
  put?(id: string, name: string): Promise<Answer<unknown>>;
  patch?(id: string, name: string): Promise<Answer<unknown>>;
  remove(id: string): Promise<Answer<unknown>>;
}

export type Sdk = Awaited<ReturnType<typeof sdkForFile>>;

/** A simulator for one test file, whose time stands still, and the SDK's configuration for it. */
export async function sdkForFile() {
  const platform = await platformForFile();
  const { endpoints, token } = platform.ready;
  const basePath = `${endpoints.api}/cloudapi/v6`;

  /** The SDK pauses before every call, not only before retries. This limits the pause. */
  const configured = (parameters: ConstructorParameters<typeof Configuration>[0]) =>
    new Configuration({ basePath, ...parameters }).setMaxWaitTime(0);
  const configuration = configured({ apiKey: token });

  /** Lets the request of an accepted write end, and returns its status from the SDK. */
  async function ended(answer: Answer<unknown>): Promise<RequestStatusMetadata> {
    expect(answer.status).toBe(202);
    await platform.advance(60);
    return (await waitForRequest(configuration, answer.headers.location ?? "")).data.metadata;
  }

  /** Waits until a write has succeeded, and returns the body of its answer. */
  async function done<Data>(write: Promise<Answer<Data>>): Promise<Data> {
    const answer = await write.catch(({ response, message }) => {
      throw new Error(response === undefined ? message : `${response.status}: ${JSON.stringify(response.data)}`);
    });
    expect(await ended(answer)).toMatchObject({ status: "DONE" });
    return answer.data;
  }

  /** The id of a created resource. */
  const made = async (write: Promise<Answer<{ id?: string }>>) => idOf(await done(write));

  /** Creates, replaces, changes and deletes a resource, and reads it after every step. */
  async function live({ create, find, put, patch, remove }: Methods): Promise<void> {
    const id = await made(create("created"));
    const expectName = async (name: string) => expect((await find(id)).data.properties).toMatchObject({ name });
    await expectName("created");
    if (put !== undefined) {
      await done(put(id, "replaced"));
      await expectName("replaced");
    }
    if (patch !== undefined) {
      await done(patch(id, "changed"));
      await expectName("changed");
    }
    await done(remove(id));
    await expectRefusal(find(id), 404);
  }

  return { platform, basePath, configured, configuration, ended, done, made, live };
}

/** Almost all fields of SDK answers are declared as optional. */
export function known<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("the answer lacks a value");
  return value;
}

export const idOf = ({ id }: { id?: string }): string => known(id);

/** The answer to a call, refused or not, without the request, which has credentials. */
export async function seen(call: Promise<Answer<unknown>>): Promise<Answer<unknown>> {
  const { status, headers, data } = await call.catch(({ response, message }) => {
    if (response === undefined) throw new Error(message);
    return response;
  });
  return { status, headers, data };
}

export async function expectRefusal(call: Promise<Answer<unknown>>, status: number, message: string | RegExp = /./) {
  const messages = [{ errorCode: expect.any(String), message: expect.stringMatching(message) }];
  expect(await seen(call)).toMatchObject({ status, data: { httpStatus: status, messages } });
}
