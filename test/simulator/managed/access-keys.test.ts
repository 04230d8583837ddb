import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type CallOptions, items, platformForFile, refusal, resource } from "../platform.ts";
import { storageOf } from "../storage.ts";

const platform = await platformForFile();
const { endpoints } = platform.ready;
const manage = (method: string, path: string, body?: unknown, options?: CallOptions) =>
  platform.call(method, `/object-storage-management${path}`, body, options);

const keyShape = z.looseObject({ accessKey: z.string().length(92), secretKey: z.string() });
const storageFor = (keys: { accessKey: string; secretKey: string }) =>
  storageOf({ ...platform, ready: { ...platform.ready, s3: keys } });

async function made(options?: CallOptions) {
  const answer = await manage("POST", "/accesskeys", { properties: { description: "backup" } }, options);
  expect(answer).toMatchObject({ status: 201, body: { metadata: { status: "PROVISIONING" } } });
  await platform.advance(3);
  const { id, properties } = resource(answer);
  return { id, path: `/accesskeys/${id}`, keys: keyShape.parse(properties) };
}

describe("an access key", () => {
  it("opens the object storage, and its secret is told once", async () => {
    const { id, path, keys } = await made();
    expect(await storageFor(keys)("GET", "/")).toMatchObject({ status: 200 });
    const read = await manage("GET", path);
    expect(resource(read)).toMatchObject({
      href: `${endpoints.objectStorageManagement}${path}`,
      metadata: {
        status: "AVAILABLE",
        administrative: true,
        supportedRegions: expect.arrayContaining(["eu-central-3"]),
      },
      properties: { description: "backup", accessKey: keys.accessKey },
    });
    const list = await manage("GET", `/accesskeys?filter.accesskeyId=${id}`);
    expect(items(list)).toHaveLength(1);
    const shown = JSON.stringify([read.body, list.body, await platform.steer("GET", "state")]);
    expect(shown).not.toContain(keys.secretKey);
  });

  it("gets a new secret, after which the old one opens nothing", async () => {
    const { path, keys } = await made();
    const renewed = keyShape.parse(resource(await manage("PUT", `${path}/renew`)).properties);
    expect(renewed.accessKey).toBe(keys.accessKey);
    expect(await storageFor(keys)("GET", "/")).toMatchObject({ status: 403 });
    expect(await storageFor(renewed)("GET", "/")).toMatchObject({ status: 200 });
    expect(await manage("PUT", path, { properties: { description: "other" } })).toMatchObject({
      status: 200,
      body: { properties: { description: "other", accessKey: keys.accessKey } },
    });
    expect((await manage("DELETE", path)).status).toBe(202);
    expect(await storageFor(renewed)("GET", "/")).toMatchObject({ status: 403 });
    await platform.advance(3);
    refusal(await manage("GET", path), 404, "paas-object-storage-management-309");
  });

  it("is its maker's: another user neither sees nor renews it", async () => {
    const { path } = await made();
    const { token } = await platform.user("s3@example.org", { privileges: ["s3Privilege"] });
    const authorization = `Bearer ${token}`;
    expect(items(await manage("GET", "/accesskeys", undefined, { authorization }))).toEqual([]);
    refusal(
      await manage("PUT", `${path}/renew`, undefined, { authorization }),
      404,
      "paas-object-storage-management-309",
    );
    const own = await made({ authorization });
    expect(resource(await manage("GET", own.path)).metadata.administrative).toBe(false);
  });
});

it("a region leads to the object storage of this machine, also that of the first bucket", async () => {
  const regions = items(await manage("GET", "/regions"));
  expect(regions.map(({ id }) => id)).toEqual(expect.arrayContaining(["eu-central-1", "eu-central-3", "us-central-1"]));
  expect(await manage("GET", "/regions/eu-central-4")).toMatchObject({
    status: 200,
    body: { id: "eu-central-4", properties: { endpoint: endpoints.objectStorage, location: "de/fra" } },
  });
  refusal(await manage("GET", "/regions/nowhere"), 404, "paas-object-storage-management-309");
});
