import { afterAll, expect } from "vitest";
import { z } from "zod";
import { type RunningSimulator, type SimulatorOptions, startSimulator } from "../../src/simulator/start.ts";

const resourceShape = z.looseObject({
  id: z.string(),
  type: z.string(),
  href: z.string(),
  metadata: z.record(z.string(), z.unknown()),
  properties: z.record(z.string(), z.unknown()),
  entities: z
    .record(
      z.string(),
      z.looseObject({ href: z.string(), items: z.array(z.looseObject({ id: z.string() })).optional() }),
    )
    .optional(),
});
const collectionShape = z.looseObject({ type: z.literal("collection"), items: z.array(z.looseObject({})) });
const errorShape = z.object({
  httpStatus: z.number(),
  messages: z.array(z.object({ errorCode: z.string(), message: z.string() })).min(1),
});
const statusShape = z.looseObject({ metadata: z.looseObject({ status: z.string(), message: z.string() }) });

const ownerShape = z.object({
  contractNumber: z.int(),
  username: z.string(),
  password: z.string(),
  token: z.string(),
  s3: z.object({ accessKey: z.string(), secretKey: z.string() }),
});
const userShape = z.object({ token: z.string(), userId: z.string() });

export interface Answer {
  status: number;
  headers: Headers;
  body: unknown;
}

export interface CallOptions {
  /** Whole Authorization header; null sends none. Default: the main user's token. */
  authorization?: string | null;
  headers?: Record<string, string>;
  /** Sent as it is instead of JSON. */
  raw?: string | Uint8Array<ArrayBuffer>;
  signal?: AbortSignal;
}

export type Platform = Awaited<ReturnType<typeof startPlatform>>;

/** A simulator whose time stands still unless a test advances it, and a caller for it. */
export async function startPlatform(options: SimulatorOptions = {}) {
  return callerFor(await startSimulator({ speed: 0.001, ...options }));
}

/**
 * A platform of a test file's own, for its top level to wait for. It is closed after the last test; when the file fails
 * before it has a test, nothing closes it, so a platform with processes of its own is started in a hook instead.
 */
export async function platformForFile(options: SimulatorOptions = {}): Promise<Platform> {
  const platform = await startPlatform(options);
  afterAll(() => platform.close());
  return platform;
}

/** The same, and the file fails if the simulator has: a refusal is an answer, an error of its own is not. */
export async function unfailingPlatformForFile(): Promise<Platform> {
  const failures: unknown[] = [];
  // The last hook runs first: by then the platform is closed.
  afterAll(() => expect(failures).toEqual([]));
  return platformForFile({ onError: (where, error) => failures.push({ where, error }) });
}

/** `steeringToken`: the token that steers, for callers of further contracts. */
export function callerFor(simulator: Pick<RunningSimulator, "ready" | "close">, steeringToken?: string) {
  const { ready } = simulator;

  async function call(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
    const { authorization = `Bearer ${ready.token}` } = options;
    const response = await fetch(ready.endpoints.api + path, {
      method,
      headers: {
        ...(authorization !== null && { authorization }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...options.headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(options.raw !== undefined && { body: options.raw }),
      ...(options.signal && { signal: options.signal }),
    });
    const text = await response.text();
    const isText = response.headers.get("content-type")?.startsWith("text/plain");
    const parsed = text === "" ? undefined : isText ? text : JSON.parse(text);
    return { status: response.status, headers: response.headers, body: parsed };
  }

  const core = (method: string, path: string, body?: unknown, options?: CallOptions) =>
    call(method, `/cloudapi/v6${path}`, body, options);

  async function steer(method: string, path: string, body?: unknown): Promise<unknown> {
    const contract = `${path.includes("?") ? "&" : "?"}contract=${ready.contractNumber}`;
    const authorization = `Bearer ${steeringToken ?? ready.token}`;
    const answer = await call(method, `/_simulator/${path}${contract}`, body, { authorization });
    expect(answer).toMatchObject({ status: 200 });
    return answer.body;
  }

  const advance = (seconds: number) => steer("POST", "advance", { seconds });

  /** Status and message of the request that an accepted write left behind. */
  async function requestOf(answer: Answer): Promise<{ status: string; message: string }> {
    const location = new URL(answer.headers.get("location") ?? "");
    return statusShape.parse((await call("GET", location.pathname)).body).metadata;
  }

  /** Does a write and lets its request end well. */
  async function done(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await core(method, path, body);
    expect(answer).toMatchObject({ status: 202 });
    await advance(60);
    expect(await requestOf(answer)).toMatchObject({ status: "DONE" });
    return answer;
  }

  /** Something new that is ready to use; its path below the API's base. */
  async function made(collection: string, body: unknown): Promise<string> {
    return `${collection}/${resource(await done("POST", collection, body)).id}`;
  }

  return {
    ready,
    call,
    core,
    steer,
    advance,
    requestOf,
    done,
    made,
    datacenter: (location = "de/fra") => made("/datacenters", { properties: { name: "prod", location } }),
    /** A further contract of the same platform; its own calls are those of its owner. */
    async contract(owner: object = {}) {
      const made = ownerShape.parse(await steer("POST", "contracts", owner));
      return callerFor({ ready: { ...ready, ...made }, close: async () => {} }, steeringToken ?? ready.token);
    },
    /** A further user of the contract. */
    async user(username: string, more: object = {}): Promise<{ token: string; userId: string }> {
      return userShape.parse(await steer("POST", "users", { username, password: "secret-1", ...more }));
    },
    /** Shares what a path leads to with a user, by a group of his own. */
    async share(path: string, userId: string, properties: object = { editPrivilege: true }): Promise<void> {
      const group = resource(await core("POST", "/um/groups", { properties: { name: "sharers" } })).id;
      expect(await core("POST", `/um/groups/${group}/users`, { id: userId })).toMatchObject({ status: 201 });
      const shares = `/um/groups/${group}/shares/${path.split("/")[2]}`;
      expect(await core("POST", shares, { properties })).toMatchObject({ status: 201 });
    },
    faults: (...rules: object[]) => steer("PUT", "faults", { rules }),
    close: () => simulator.close(),
  };
}

export const resource = (answer: Answer) => resourceShape.parse(answer.body);
export const items = (answer: Answer) => collectionShape.parse(answer.body).items;

/** Asserts the platform's error payload and gives its first message. */
export function refusal(answer: Answer, status: number, code: string): string {
  const error = errorShape.parse(answer.body);
  expect({ ...answer, body: error }).toMatchObject({ status, body: { httpStatus: status } });
  expect(error.messages[0]?.errorCode).toBe(code);
  return error.messages[0]?.message ?? "";
}

/** A server body as the samples of the platform show it. */
export const serverBody = (properties: object = {}, volume: object = {}, nic: object = {}) => ({
  properties: { name: "web", cores: 4, ram: 4096, ...properties },
  entities: {
    volumes: {
      items: [{ properties: { name: "os", size: 20, type: "SSD Premium", imageAlias: "ubuntu:latest", ...volume } }],
    },
    nics: { items: [{ properties: { name: "n0", lan: 1, ...nic } }] },
  },
});

export const cubeBody = (properties: object = {}, volume: object = {}) => ({
  properties: { name: "cube", type: "CUBE", templateUuid: "72e73b81-8551-4e74-b398-fc63b39994af", ...properties },
  entities: { volumes: { items: [{ properties: { name: "nvme", type: "DAS", licenceType: "LINUX", ...volume } }] } },
});
