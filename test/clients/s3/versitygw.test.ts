import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { provideVersitygw } from "../../../src/simulator/storage/versitygw/binary.ts";
import { recordsIn } from "../../simulator/flow-records.ts";
import { type Platform, resource, serverBody, startPlatform } from "../../simulator/platform.ts";
import { startProcess } from "../../simulator/process.ts";
import { clientFor } from "./client.ts";

let directory: string;
let platform: Platform;
let owner: S3Client;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "versitygw-"));
  platform = await startPlatform({ objectStorage: "versitygw", data: join(directory, "data"), buckets: ["more"] });
  owner = clientFor(platform.ready.endpoints.objectStorage, platform.ready.s3);
});
afterAll(async () => {
  owner.destroy();
  await platform.close();
  rmSync(directory, { recursive: true, force: true });
});

const names = async (client: S3Client) => {
  const { Buckets } = await client.send(new ListBucketsCommand());
  return (Buckets ?? []).map(({ Name }) => Name).sort();
};

describe("versitygw as the platform's object storage", { timeout: 60_000 }, () => {
  it("opens to the owner's key, with the buckets that are there from the start", async () => {
    expect(await names(owner)).toEqual(["flow-logs", "more"]);
    await owner.send(new PutObjectCommand({ Bucket: "more", Key: "a/b", Body: "text" }));
    const { Body } = await owner.send(new GetObjectCommand({ Bucket: "more", Key: "a/b" }));
    expect(await Body?.transformToString()).toBe("text");
    const stranger = clientFor(platform.ready.endpoints.objectStorage, { ...platform.ready.s3, secretKey: "wrong" });
    await expect(names(stranger)).rejects.toMatchObject({ name: "SignatureDoesNotMatch" });
    stranger.destroy();
  });

  it("knows an S3 key from the answer that made it to the one that ended it", async () => {
    const { userId, token } = await platform.user("key@example.org");
    const as = { authorization: `Bearer ${token}` };
    const key = resource(await platform.core("POST", `/um/users/${userId}/s3keys`, undefined, as));
    const path = `/um/users/${userId}/s3keys/${key.id}`;
    const secretKey = String(key.properties.secretKey);
    const client = clientFor(platform.ready.endpoints.objectStorage, { accessKey: key.id, secretKey });
    await client.send(new CreateBucketCommand({ Bucket: "of-a-user" }));
    expect(await names(client)).toEqual(["of-a-user"]);
    await expect(client.send(new ListObjectsV2Command({ Bucket: "more" }))).rejects.toMatchObject({
      name: "AccessDenied",
    });
    await platform.core("PUT", path, { properties: { active: false } }, as);
    await expect(names(client)).rejects.toMatchObject({ name: "InvalidAccessKeyId" });
    await platform.core("PUT", path, { properties: { active: true } }, as);
    expect(await names(client)).toEqual(["of-a-user"]);
    await platform.core("DELETE", path, undefined, as);
    await expect(names(client)).rejects.toMatchObject({ name: "InvalidAccessKeyId" });
    client.destroy();
  });

  it("gets the flow logs, in buckets that exist there", async () => {
    const datacenter = await platform.datacenter();
    const server = resource(await platform.done("POST", `${datacenter}/servers`, serverBody()));
    const nic = `${datacenter}/servers/${server.id}/nics/${server.entities?.nics?.items?.[0]?.id}`;
    const properties = { name: "log", action: "ALL", direction: "BIDIRECTIONAL", bucket: "not-there" };
    expect((await platform.core("POST", `${nic}/flowlogs`, { properties })).status).toBe(422);
    await platform.done("POST", `${nic}/flowlogs`, { properties: { ...properties, bucket: "of-a-user/logs/" } });
    // The first interval may be almost over when the flow log starts, and then it is empty.
    await platform.advance(2 * 600);
    const list = async () => (await owner.send(new ListObjectsV2Command({ Bucket: "of-a-user" }))).Contents ?? [];
    await expect.poll(async () => (await list()).length).toBeGreaterThanOrEqual(2);
    const Key = (await list())[1]?.Key;
    expect(Key).toMatch(/^logs\/log-.*\.log\.gz$/);
    const { Body } = await owner.send(new GetObjectCommand({ Bucket: "of-a-user", Key }));
    const text = gunzipSync((await Body?.transformToByteArray()) ?? new Uint8Array()).toString();
    expect(recordsIn(text).length).toBeGreaterThan(0);
  });

  it("gets the flow logs of further contracts, in buckets of their own keys", async () => {
    const other = await platform.contract();
    const client = clientFor(other.ready.endpoints.objectStorage, other.ready.s3);
    await client.send(new CreateBucketCommand({ Bucket: "of-another" }));
    const datacenter = await other.datacenter();
    const server = resource(await other.done("POST", `${datacenter}/servers`, serverBody()));
    const nic = `${datacenter}/servers/${server.id}/nics/${server.entities?.nics?.items?.[0]?.id}`;
    const properties = { name: "log", action: "ALL", direction: "BIDIRECTIONAL", bucket: "more" };
    expect((await other.core("POST", `${nic}/flowlogs`, { properties })).status).toBe(422);
    await other.done("POST", `${nic}/flowlogs`, { properties: { ...properties, bucket: "of-another" } });
    await other.steer("POST", "flow-logs");
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: "of-another" }));
    // One object per interval; two if the first interval ended during the test.
    expect(Contents.length).toBeGreaterThan(0);
    for (const { Key } of Contents) expect(Key).toMatch(/^log-.*\.log\.gz$/);
    client.destroy();
  });

  it("cannot outlive the simulator, even when that is killed", async () => {
    const child = startProcess(["--json", "--object-storage", "versitygw", "--data", join(directory, "killed")]);
    const { ready } = await child.platform();
    expect((await fetch(`${ready.endpoints.objectStorage}/health`)).status).toBe(200);
    child.kill("SIGKILL");
    await child.exit;
    const answers = () =>
      fetch(`${ready.endpoints.objectStorage}/health`).then(
        () => true,
        () => false,
      );
    await expect.poll(answers).toBe(false);
  });
});

describe("the program", { timeout: 60_000 }, () => {
  const silent = () => {};
  const folder = (name: string) => join(directory, name);

  it("is the one that MOORING_VERSITYGW names, or the first on PATH", async () => {
    const bin = mkdtempSync(folder("bin-"));
    const program = join(bin, "versitygw");
    writeFileSync(program, "#!/bin/sh\n");
    chmodSync(program, 0o755);
    expect(await provideVersitygw({ MOORING_VERSITYGW: program }, silent)).toBe(program);
    expect(await provideVersitygw({ PATH: `/nowhere:${bin}` }, silent)).toBe(program);
    const wrong = provideVersitygw({ MOORING_VERSITYGW: "/nowhere/versitygw" }, silent);
    await expect(wrong).rejects.toThrow("MOORING_VERSITYGW is /nowhere/versitygw");
  });

  it("is built once into the cache, with a message", async () => {
    const bin = mkdtempSync(folder("go-"));
    // A fake `go` that writes a program to the requested path.
    const go = '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\nprintf "#!/bin/sh\\n" > "$2"\nchmod +x "$2"\n';
    writeFileSync(join(bin, "go"), go);
    chmodSync(join(bin, "go"), 0o755);
    const said: string[] = [];
    const env = { PATH: `${bin}:/bin:/usr/bin`, XDG_CACHE_HOME: folder("cache") };
    const program = await provideVersitygw(env, (line) => said.push(line));
    expect(program).toMatch(/cache\/mooring\/versitygw-[0-9a-f]{16}\/versitygw$/);
    expect(execFileSync(program).toString()).toBe("");
    expect(said).toEqual([expect.stringContaining("building versitygw")]);
    expect(readdirSync(join(program, ".."))).toEqual(["versitygw"]);
    expect(await provideVersitygw(env, (line) => said.push(line))).toBe(program);
    expect(said).toHaveLength(1);
  });

  it("cannot be built without Go, and the message says what to do", async () => {
    const env = { PATH: "/nowhere", XDG_CACHE_HOME: folder("none") };
    const failure = provideVersitygw(env, silent);
    await expect(failure).rejects.toThrow(/Go is needed.*MOORING_VERSITYGW.*--object-storage builtin/s);
    expect(existsSync(folder("none/mooring"))).toBe(true);
  });
});
