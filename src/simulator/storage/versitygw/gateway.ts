import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { s3KeyOf } from "../../core/users/s3-keys.ts";
import { closeServer, listenOn } from "../../http/serve.ts";
import { type Guarded, spawnGuarded } from "../../programs/guarded.ts";
import { type Swept, temporaryFolder } from "../../programs/swept.ts";
import { defaultRegion } from "../../s3/buckets/records.ts";
import type { Contracts } from "../../world.ts";
import { createS3Client, type S3Client } from "../client.ts";
import { bucketUser, type ObjectStorage, type StorageParts } from "../object-storage.ts";
import { provideVersitygw } from "./binary.ts";
import { keepUsers, type Users } from "./users.ts";

const aclShape = z.object({ Owner: z.string() });

/**
 * The object storage as a Versity S3 Gateway beside this process. Objects are plain files below `buckets`; what a file
 * system may not be able to keep with them is in `metadata`.
 */
export function createVersitygw(parts: StorageParts): ObjectStorage {
  let temporary: Swept | undefined;
  let folder: string | undefined;
  let child: Guarded | undefined;
  let client: S3Client | undefined;
  let users: Users | undefined;
  let stopping = false;

  let contracts: Contracts | undefined;
  const hasBucket = (name: string) => folder !== undefined && existsSync(join(folder, "buckets", name));

  /** The gateway knows the key that created a bucket, but that key may be deleted. */
  function contractOf(bucket: string): number | undefined {
    if (contracts === undefined || folder === undefined) return undefined;
    const acl = join(folder, "metadata", bucket, "meta", "acl");
    const owner = existsSync(acl) ? aclShape.parse(JSON.parse(readFileSync(acl, "utf8"))).Owner : "";
    const maker = s3KeyOf(contracts.all(), owner)?.world;
    return maker?.contractNumber ?? bucketUser(contracts, bucket) ?? contracts.first.contractNumber;
  }

  async function start(): Promise<{ url: string; admin: S3Client }> {
    const program = await provideVersitygw(process.env, (line) => process.stderr.write(`${line}\n`));
    if (parts.data === undefined) temporary = temporaryFolder("versitygw");
    const own = temporary?.path ?? keptFolder(parts.data ?? "");
    folder = own;
    const [buckets, metadata, accounts] = [join(own, "buckets"), join(own, "metadata"), join(own, "users")];
    // The users are those of the S3 keys as they are now, whatever an earlier run left.
    await rm(accounts, { recursive: true, force: true });
    for (const each of [buckets, metadata, accounts]) await mkdir(each, { recursive: true, mode: 0o700 });
    const url = await freeOrigin(parts.host, parts.port);
    const adminUrl = await freeOrigin("127.0.0.1", 0);
    const root = { accessKey: randomBytes(10).toString("hex"), secretKey: randomBytes(20).toString("hex") };
    const ports = ["--port", addressOf(parts.host, url), "--admin-port", addressOf("127.0.0.1", adminUrl)];
    const listen = [...ports, "--region", defaultRegion, "--health", "/health", "--quiet"];
    const args = [...listen, "--iam-dir", accounts, "--iam-cache-disable", "posix", "--sidecar", metadata, buckets];
    child = spawnGuarded(program, args, own, {
      PATH: process.env.PATH,
      ROOT_ACCESS_KEY: root.accessKey,
      ROOT_SECRET_KEY: root.secretKey,
    });
    const { ended, lastWords } = child;
    await untilHealthy(url, child);
    void ended.then((code) => {
      if (!stopping) parts.onError("object storage", new Error(`versitygw ended with code ${code}\n${lastWords()}`));
    });
    client = createS3Client({ url, ...root });
    return { url, admin: createS3Client({ url: adminUrl, ...root }) };
  }

  async function stop(): Promise<void> {
    stopping = true;
    await child?.kill();
    await temporary?.remove();
  }

  return {
    hasBucket: (name, contractNumber) => hasBucket(name) && contractOf(name) === contractNumber,
    async put(bucket, key, content) {
      if (client === undefined) throw new Error("the object storage is used before it was opened");
      await client.put(bucket, key, content);
    },
    async open(all, { accessKey, secretKey }) {
      try {
        contracts = all;
        const { url, admin } = await start();
        users = keepUsers(all, admin, parts.onError);
        await users.synced();
        const owner = createS3Client({ url, accessKey, secretKey });
        for (const name of parts.buckets) if (!hasBucket(name)) await owner.createBucket(name);
        return { url, accessKey, secretKey };
      } catch (error) {
        await stop();
        throw error;
      }
    },
    synced: async () => users?.synced(),
    close: stop,
  };
}

const keptFolder = (data: string) => resolve(data, "versitygw");

/** An origin with a free port. The gateway cannot choose a port and report it. */
async function freeOrigin(host: string, port: number): Promise<string> {
  const probe = createServer();
  const origin = await listenOn(probe, host, port);
  await closeServer(probe);
  return origin;
}

const addressOf = (host: string, origin: string) =>
  `${host.includes(":") ? `[${host}]` : host}:${new URL(origin).port}`;

async function untilHealthy(url: string, { ended, lastWords }: Guarded): Promise<void> {
  const death = ended.then((code) => new Error(`versitygw ended with code ${code}\n${lastWords()}`));
  for (;;) {
    const healthy = fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    const outcome = await Promise.race([healthy, death]);
    if (outcome instanceof Error) throw outcome;
    if (outcome) return;
    await delay(20);
  }
}
