import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it, vi } from "vitest";
import { listPage } from "../../../src/simulator/s3/buckets/listing.ts";
import { byBytes, createSortedKeys } from "../../../src/simulator/s3/buckets/sorted-keys.ts";
import { platformForFile, resource, startPlatform } from "../platform.ts";
import { startProcess } from "../process.ts";
import { storageOf } from "../storage.ts";

const platform = await platformForFile();
const owner = storageOf(platform);
const directory = mkdtempSync(join(tmpdir(), "storage-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A user with an own key. */
async function userWithKey(name: string) {
  const { userId, token } = await platform.user(name);
  const as = { authorization: `Bearer ${token}` };
  const key = resource(await platform.core("POST", `/um/users/${userId}/s3keys`, undefined, as));
  return storageOf(platform, { accessKey: key.id, secretKey: String(key.properties.secretKey) });
}

describe("buckets of users", () => {
  it("are closed to others, and the contract's owner may read them all", async () => {
    const one = await userWithKey("one@example.org");
    const two = await userWithKey("two@example.org");
    expect((await one("PUT", "/of-one")).status).toBe(200);
    expect((await one("PUT", "/of-one/secret", "text")).status).toBe(200);

    for (const [method, path] of [
      ["GET", "/of-one"],
      ["GET", "/of-one/secret"],
      ["PUT", "/of-one/other"],
      ["DELETE", "/of-one/secret"],
      ["DELETE", "/of-one"],
    ] as const) {
      expect(await two(method, path)).toMatchObject({ status: 403, code: "AccessDenied" });
    }
    expect(await two("PUT", "/of-one")).toMatchObject({ status: 409, code: "BucketAlreadyExists" });
    expect((await two("GET", "/")).text).not.toContain("of-one");

    expect(await owner("GET", "/of-one/secret")).toMatchObject({ status: 200, text: "text" });
    expect((await owner("GET", "/")).text).toContain("<Name>of-one</Name>");
    expect(await owner("PUT", "/of-one/other", "x")).toMatchObject({ status: 403, code: "AccessDenied" });
    expect(await owner("DELETE", "/of-one/secret")).toMatchObject({ status: 403, code: "AccessDenied" });
  });

  it("cannot be read through a copy either", async () => {
    const one = await userWithKey("from@example.org");
    const two = await userWithKey("to@example.org");
    await one("PUT", "/copy-from");
    await one("PUT", "/copy-from/k", "x");
    await two("PUT", "/copy-to");
    const copied = await two("PUT", "/copy-to/k", "", { "x-amz-copy-source": "/copy-from/k" });
    expect(copied).toMatchObject({ status: 403, code: "AccessDenied" });
  });
});

describe("content that is not what the client says", () => {
  it.each([
    ["a wrong Content-MD5", { "content-md5": "1B2M2Y8AsgTpgAmY7PhCfg==" }, "BadDigest"],
    ["a Content-MD5 that is none", { "content-md5": "x" }, "InvalidDigest"],
    ["a wrong CRC32", { "x-amz-checksum-crc32": "AAAAAA==" }, "BadDigest"],
    ["a wrong CRC-64", { "x-amz-checksum-crc64nvme": "AAAAAAAAAAA=" }, "BadDigest"],
    ["an unknown way to sign", { "x-amz-content-sha256": "STREAMING-NOTHING" }, "InvalidArgument"],
  ])("is refused for %s, and the old content stays", async (_what, headers, code) => {
    await owner("PUT", "/flow-logs/kept", "old");
    expect(await owner("PUT", "/flow-logs/kept", "new", headers)).toMatchObject({ status: 400, code });
    expect((await owner("GET", "/flow-logs/kept")).text).toBe("old");
  });

  it("is refused for a header that cannot be one, and the storage goes on", async () => {
    await owner("PUT", "/flow-logs/odd", "x");
    expect(await owner("GET", "/flow-logs/odd?response-content-type=a%0Ab")).toMatchObject({ code: "InvalidArgument" });
    expect(await owner("GET", "/flow-logs/odd?response-content-type=a%2Fb")).toMatchObject({ status: 200, text: "x" });
  });

  it("is refused for a key that is too long", async () => {
    const path = (length: number) => `/flow-logs/${"k".repeat(length)}`;
    expect((await owner("PUT", path(1024), "x")).status).toBe(200);
    expect(await owner("PUT", path(1025), "x")).toMatchObject({ status: 400, code: "KeyTooLongError" });
  });
});

describe("an unsupported request", () => {
  it("is refused instead of half done", async () => {
    expect(await owner("PUT", "/flow-logs?inventory", "x")).toMatchObject({ status: 501, code: "NotImplemented" });
    expect(await owner("PUT", "/flow-logs?ownershipControls", "x")).toMatchObject({
      status: 501,
      code: "NotImplemented",
    });
    expect(await owner("PATCH", "/flow-logs")).toMatchObject({ status: 405, code: "MethodNotAllowed" });
    expect(await owner("POST", "/flow-logs?delete", "<Other/>")).toMatchObject({ status: 400, code: "MalformedXML" });
    expect(await owner("GET", "/flow-logs?list-type=2&continuation-token=x")).toMatchObject({
      status: 400,
      code: "InvalidArgument",
    });
  });

  it.each([
    ["cors", "NoSuchCORSConfiguration"],
    ["encryption", "ServerSideEncryptionConfigurationNotFoundError"],
    ["lifecycle", "NoSuchLifecycleConfiguration"],
    ["object-lock", "ObjectLockConfigurationNotFoundError"],
    ["policy", "NoSuchBucketPolicy"],
    ["publicAccessBlock", "NoSuchPublicAccessBlockConfiguration"],
    ["replication", "ReplicationConfigurationNotFoundError"],
    ["tagging", "NoSuchTagSet"],
    ["website", "NoSuchWebsiteConfiguration"],
  ])("the setting %s was never made", async (setting, code) => {
    expect(await owner("GET", `/flow-logs?${setting}`)).toMatchObject({ status: 404, code });
  });
});

describe("objects in a data directory", () => {
  it("survive a restart and the death of the process, in files of it", { timeout: 60_000 }, async () => {
    const data = join(directory, "kept");
    const first = startProcess(["--json", "--data", data, "--bucket", "mine"]);
    const store = storageOf(await first.platform());
    await store("PUT", "/mine/a", "alpha", { "content-type": "text/plain" });
    await store("PUT", "/mine/b", "one");
    await store("PUT", "/mine/b", "two");
    first.kill("SIGKILL");
    await first.exit;
    const again = await startPlatform({ data });
    const read = storageOf(again);
    expect(await read("GET", "/mine/a")).toMatchObject({ status: 200, text: "alpha" });
    expect((await read("GET", "/mine/a")).headers.get("content-type")).toBe("text/plain");
    expect((await read("GET", "/mine/b")).text).toBe("two");
    expect(readdirSync(join(data, "objects"))).toHaveLength(2);
    await again.close();
  });

  it("leave no file behind when they are deleted or refused", async () => {
    const data = join(directory, "clean");
    const own = await startPlatform({ data });
    const store = storageOf(own);
    await store("PUT", "/flow-logs/a", "x");
    await store("PUT", "/flow-logs/b", "x", { "x-amz-checksum-crc32": "AAAAAA==" });
    await store("PUT", "/nowhere/c", "x");
    await store("DELETE", "/flow-logs/a");
    expect(readdirSync(join(data, "objects"))).toEqual([]);
    await own.close();
  });

  it("lie in a temporary folder without one, which goes with the simulator", async () => {
    const temporary = mkdtempSync(join(directory, "tmp-"));
    vi.stubEnv("TMPDIR", temporary);
    const own = await startPlatform();
    await storageOf(own)("PUT", "/flow-logs/a", "x");
    expect(readdirSync(temporary)).toHaveLength(1);
    await own.close();
    expect(readdirSync(temporary)).toEqual([]);
    vi.unstubAllEnvs();
  });
});

describe("a page of keys", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "/", "é", "\uff5e", "\u{1f600}"), maxLength: 6 });

  it("has keys in the order of their bytes", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(byBytes(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
    );
  });

  it("is one of those that together show every key or its folder exactly once", () => {
    const options = fc.record({
      keys: fc.uniqueArray(text),
      prefix: fc.constantFrom("", "a", "a/"),
      delimiter: fc.constantFrom("", "/"),
      limit: fc.integer({ min: 1, max: 4 }),
    });
    fc.assert(
      fc.property(options, ({ keys, prefix, delimiter, limit }) => {
        const sorted = createSortedKeys();
        for (const key of keys.filter((each) => each !== "")) sorted.add(key);
        const shown: string[] = [];
        for (let after: string | undefined = ""; after !== undefined; ) {
          const page = listPage(sorted.all, { prefix, delimiter, after, limit });
          const items = [...page.keys, ...page.prefixes];
          expect(items.length).toBeLessThanOrEqual(limit);
          shown.push(...items.sort(byBytes));
          after = page.next;
        }
        const folder = (key: string) => {
          const cut = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
          return cut < 0 ? key : key.slice(0, cut + 1);
        };
        const expected = new Set(sorted.all.filter((key) => key.startsWith(prefix)).map(folder));
        expect(shown).toEqual([...expected]);
      }),
    );
  });
});
