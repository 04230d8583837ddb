import { describe, expect, it } from "vitest";
import { findKeys } from "../../../src/cli/flowlogs/keys.ts";
import { nicsOf } from "../../../src/cli/flowlogs/nics.ts";
import { openPlatform, type PlatformAccess } from "../../../src/cli/platform-access.ts";
import { scriptedServer } from "../../platform/scripted-server.ts";
import { accessTo, paths } from "../scripted-platform.ts";

const { signal } = new AbortController();

describe("the keys of object storage", () => {
  const keysPath = "/cloudapi/v6/um/users/user-1/s3keys";
  const key = (id: string, active: boolean) => ({
    id,
    type: "s3key",
    properties: { secretKey: `${id}-secret`, active },
  });
  const find = (access: PlatformAccess, create = false, env = {}) => findKeys(access, { create, env, signal });

  it("are those of the environment, and both of them", async () => {
    await using access = await openPlatform({ env: {} });
    const env = { MOORING_S3_ACCESS_KEY: "a", MOORING_S3_SECRET_KEY: "s" };
    expect(await find(access, false, env)).toEqual({ accessKey: "a", secretKey: "s" });
    await expect(find(access, false, { MOORING_S3_ACCESS_KEY: "a" })).rejects.toThrow("set both");
  });

  it("are the first active ones of the token's user", async () => {
    await using platform = await scriptedServer(paths({ [keysPath]: { items: [key("old", false), key("k1", true)] } }));
    await using access = await accessTo(platform);
    expect(await find(access, true)).toEqual({ accessKey: "k1", secretKey: "k1-secret" });
    expect(platform.arrived.map(({ method, url }) => `${method} ${url}`)).toEqual([`GET ${keysPath}?depth=1`]);
  });

  it("are made only when that is wished", async () => {
    const answers = { [`GET ${keysPath}`]: { items: [] }, [`POST ${keysPath}`]: key("new", true) };
    await using platform = await scriptedServer(paths(answers));
    await using access = await accessTo(platform);
    await expect(find(access)).rejects.toThrow("run again with --create-key");
    expect(await find(access, true)).toEqual({ accessKey: "new", secretKey: "new-secret" });
    expect(platform.arrived.map(({ method }) => method)).toEqual(["GET", "GET", "POST"]);
  });
});

describe("--server", () => {
  const server = (name: string, ...nics: string[]) => ({
    id: `${name}-${nics.length}`,
    properties: { name },
    entities: { nics: { items: nics.map((id) => ({ id })) } },
  });
  const answers = {
    "/cloudapi/v6/datacenters": { items: [{ id: "d1" }, { id: "gone" }, { id: "d2" }] },
    "/cloudapi/v6/datacenters/d1/servers": {
      items: [server("web", "n1", "n2"), server("web-2", "n3"), server("bare")],
    },
    "/cloudapi/v6/datacenters/d2/servers": { items: [server("web", "n4")] },
  };

  it("means the NICs of every server of exactly that name", async () => {
    await using platform = await scriptedServer(paths(answers));
    await using access = await accessTo(platform);
    expect(await nicsOf(access, "web", signal)).toEqual(["n1", "n2", "n4"]);
    expect(platform.arrived.at(-1)?.url).toContain("depth=3");
  });

  it("fails when there is no such server, or it has no NIC", async () => {
    await using platform = await scriptedServer(paths(answers));
    await using access = await accessTo(platform);
    await expect(nicsOf(access, "db", signal)).rejects.toThrow('no datacenter has a server named "db"');
    await expect(nicsOf(access, "bare", signal)).rejects.toThrow('server "bare" has no NIC');
  });
});
