import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketCorsCommand,
  GetBucketLocationCommand,
  GetBucketPolicyStatusCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListMultipartUploadsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  ListPartsCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { afterAll, describe, expect, it } from "vitest";
import { platformForFile } from "../../simulator/platform.ts";
import { clientFor } from "./client.ts";

const platform = await platformForFile({ buckets: ["taken"] });
const client = clientFor(platform.ready.endpoints.objectStorage, platform.ready.s3);
afterAll(() => client.destroy());

/** A separate bucket for each test. */
async function bucket(name: string): Promise<string> {
  await client.send(new CreateBucketCommand({ Bucket: name }));
  return name;
}

const bytesOf = async (Bucket: string, Key: string, Range?: string) => {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, ...(Range && { Range }) }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
};

const MiB = 1024 * 1024;

/** Large contents are compared by digest: a comparison of elements takes seconds. */
const digest = (content: Buffer) => createHash("sha256").update(content).digest("hex");

describe("the public S3 client with the built-in object storage", { timeout: 60_000 }, () => {
  it("finds the owner's buckets that are there from the start", async () => {
    const { Buckets, Owner } = await client.send(new ListBucketsCommand());
    expect(Buckets?.map(({ Name }) => Name)).toEqual(["flow-logs", "taken"]);
    expect(Owner?.DisplayName).toBe(platform.ready.username);
  });

  it("makes, finds, locates and deletes a bucket", async () => {
    const Bucket = "life-of-a-bucket";
    const configuration = { LocationConstraint: "eu-central-2" } as const;
    await client.send(new CreateBucketCommand({ Bucket, CreateBucketConfiguration: configuration }));
    expect(await client.send(new HeadBucketCommand({ Bucket }))).toMatchObject({ BucketRegion: "eu-central-2" });
    expect(await client.send(new GetBucketLocationCommand({ Bucket }))).toMatchObject(configuration);
    await client.send(new DeleteBucketCommand({ Bucket }));
    await expect(client.send(new HeadBucketCommand({ Bucket }))).rejects.toMatchObject({ name: "NotFound" });
  });

  it("gets the reason why a bucket cannot be created or deleted", async () => {
    await expect(bucket("taken")).rejects.toMatchObject({ name: "BucketAlreadyOwnedByYou" });
    await expect(bucket("Capitals")).rejects.toMatchObject({ name: "InvalidBucketName" });
    const Bucket = await bucket("not-empty");
    await client.send(new PutObjectCommand({ Bucket, Key: "a", Body: "x" }));
    await expect(client.send(new DeleteBucketCommand({ Bucket }))).rejects.toMatchObject({ name: "BucketNotEmpty" });
    await expect(client.send(new DeleteBucketCommand({ Bucket: "never-made" }))).rejects.toMatchObject({
      name: "NoSuchBucket",
    });
  });

  it("reads what it wrote, with its headers and metadata", async () => {
    const Bucket = await bucket("round-trip");
    const Key = "ein Schlüssel/mit (allem) & ~ + 'mehr'*.txt";
    const Body = randomBytes(300_000);
    const described = { ContentType: "text/x-odd", CacheControl: "no-store", Metadata: { colour: "blue" } };
    const { ETag } = await client.send(new PutObjectCommand({ Bucket, Key, Body, ...described }));
    const head = await client.send(new HeadObjectCommand({ Bucket, Key, ChecksumMode: "ENABLED" }));
    expect(head).toMatchObject({ ...described, ETag, ContentLength: Body.length });
    expect(head.ChecksumCRC32).toHaveLength(8);
    expect(digest(await bytesOf(Bucket, Key))).toBe(digest(Body));
    await client.send(new PutObjectCommand({ Bucket, Key, Body: "" }));
    expect(await bytesOf(Bucket, Key)).toEqual(Buffer.alloc(0));
  });

  it.each(["CRC32", "CRC32C", "SHA1", "SHA256"] as const)("has its %s checked and gets it back", async (algorithm) => {
    const [Bucket, Key] = ["taken", algorithm];
    const put = new PutObjectCommand({ Bucket, Key, Body: "some content", ChecksumAlgorithm: algorithm });
    const sent = await client.send(put);
    const { [`Checksum${algorithm}` as const]: known } = await client.send(
      new HeadObjectCommand({ Bucket, Key, ChecksumMode: "ENABLED" }),
    );
    expect(known).toBe(sent[`Checksum${algorithm}`]);
    expect(known).toBeTruthy();
    await client.send(new DeleteObjectCommand({ Bucket, Key }));
  });

  it("streams in chunks with a checksum behind them", async () => {
    const Bucket = await bucket("streams");
    const Body = randomBytes(3 * MiB);
    const pieces = Array.from({ length: 48 }, (_, index) => Body.subarray(index * 65_536, (index + 1) * 65_536));
    const stream = Readable.from(pieces);
    await client.send(new PutObjectCommand({ Bucket, Key: "s", Body: stream, ContentLength: Body.length }));
    const { ContentEncoding, Body: read } = await client.send(new GetObjectCommand({ Bucket, Key: "s" }));
    expect(ContentEncoding).toBeUndefined();
    if (!(read instanceof Readable)) throw new Error("the client gives no stream");
    expect(digest(await buffer(read))).toBe(digest(Body));
  });

  it("reads ranges", async () => {
    const Bucket = await bucket("ranges");
    await client.send(new PutObjectCommand({ Bucket, Key: "abc", Body: "abcdefghij" }));
    expect(String(await bytesOf(Bucket, "abc", "bytes=2-4"))).toBe("cde");
    expect(String(await bytesOf(Bucket, "abc", "bytes=7-"))).toBe("hij");
    expect(String(await bytesOf(Bucket, "abc", "bytes=-1"))).toBe("j");
    expect(String(await bytesOf(Bucket, "abc", "bytes=8-99"))).toBe("ij");
    const part = await client.send(new GetObjectCommand({ Bucket, Key: "abc", Range: "bytes=0-0" }));
    expect(part).toMatchObject({ ContentRange: "bytes 0-0/10", ContentLength: 1 });
    await expect(bytesOf(Bucket, "abc", "bytes=10-")).rejects.toMatchObject({ name: "InvalidRange" });
  });

  it("honours conditions", async () => {
    const [Bucket, Key] = [await bucket("conditions"), "k"];
    const { ETag } = await client.send(new PutObjectCommand({ Bucket, Key, Body: "1", IfNoneMatch: "*" }));
    await expect(client.send(new PutObjectCommand({ Bucket, Key, Body: "2", IfNoneMatch: "*" }))).rejects.toMatchObject(
      { name: "PreconditionFailed" },
    );
    await expect(client.send(new GetObjectCommand({ Bucket, Key, IfMatch: '"other"' }))).rejects.toMatchObject({
      $metadata: { httpStatusCode: 412 },
    });
    await expect(client.send(new GetObjectCommand({ Bucket, Key, IfNoneMatch: ETag }))).rejects.toMatchObject({
      $metadata: { httpStatusCode: 304 },
    });
    expect(String(await bytesOf(Bucket, Key))).toBe("1");
  });

  it("copies within the storage", async () => {
    const Bucket = await bucket("copies");
    await client.send(new PutObjectCommand({ Bucket, Key: "from here", Body: "text", Metadata: { a: "1" } }));
    await client.send(new CopyObjectCommand({ Bucket, Key: "to", CopySource: `${Bucket}/from%20here` }));
    expect(await client.send(new HeadObjectCommand({ Bucket, Key: "to" }))).toMatchObject({ Metadata: { a: "1" } });
    expect(String(await bytesOf(Bucket, "to"))).toBe("text");
  });

  it("deletes one object, many, and ones that are not there", async () => {
    const Bucket = await bucket("deletions");
    for (const Key of ["a", "b", "c&d", "e"]) await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
    await client.send(new DeleteObjectCommand({ Bucket, Key: "a" }));
    await client.send(new DeleteObjectCommand({ Bucket, Key: "a" }));
    const Objects = ["b", "c&d", "never"].map((Key) => ({ Key }));
    const { Deleted } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect(Deleted?.map(({ Key }) => Key)).toEqual(["b", "c&d", "never"]);
    const { Contents } = await client.send(new ListObjectsV2Command({ Bucket }));
    expect(Contents?.map(({ Key }) => Key)).toEqual(["e"]);
    await expect(bytesOf(Bucket, "a")).rejects.toMatchObject({ name: "NoSuchKey", Key: "a" });
  });

  it("lists folders and keys in the order of their bytes, encoded when asked", async () => {
    const Bucket = await bucket("listing");
    const keys = ["a/1", "a/2", "b", "c/d/e", "é", "\uff5e", "\u{1f600}"];
    for (const Key of keys) await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
    const all = await client.send(new ListObjectsV2Command({ Bucket, FetchOwner: true }));
    expect(all.Contents?.map(({ Key }) => Key)).toEqual(keys);
    expect(all.Contents?.[0]?.Owner?.DisplayName).toBe(platform.ready.username);
    const folders = await client.send(new ListObjectsV2Command({ Bucket, Delimiter: "/" }));
    expect(folders.CommonPrefixes?.map(({ Prefix }) => Prefix)).toEqual(["a/", "c/"]);
    expect(folders.KeyCount).toBe(6);
    const within = await client.send(new ListObjectsV2Command({ Bucket, Prefix: "a/", StartAfter: "a/1" }));
    expect(within.Contents?.map(({ Key }) => Key)).toEqual(["a/2"]);
    const encoded = await client.send(new ListObjectsV2Command({ Bucket, Prefix: "é", EncodingType: "url" }));
    expect(encoded.Contents?.[0]?.Key).toBe("%C3%A9");
    const old = await client.send(new ListObjectsCommand({ Bucket, Delimiter: "/", MaxKeys: 2 }));
    expect(old).toMatchObject({ IsTruncated: true, NextMarker: "b" });
    const versions = await client.send(new ListObjectVersionsCommand({ Bucket, Prefix: "b" }));
    expect(versions.Versions).toMatchObject([{ Key: "b", VersionId: "null", IsLatest: true }]);
  });

  it("pages through 2,500 keys without losing or repeating one", async () => {
    const Bucket = await bucket("pages");
    const keys = Array.from({ length: 2500 }, (_, index) => `k/${String(index).padStart(4, "0")}`);
    for (let index = 0; index < keys.length; index += 50) {
      await Promise.all(
        keys.slice(index, index + 50).map((Key) => client.send(new PutObjectCommand({ Bucket, Key, Body: "" }))),
      );
    }
    const found: (string | undefined)[] = [];
    const sizes: (number | undefined)[] = [];
    for await (const { Contents, KeyCount } of paginateListObjectsV2({ client }, { Bucket })) {
      found.push(...(Contents ?? []).map(({ Key }) => Key));
      sizes.push(KeyCount);
    }
    expect(sizes).toEqual([1000, 1000, 500]);
    expect(found).toEqual(keys);
  });

  it("uploads 8 MiB in parts", async () => {
    const [Bucket, Key] = [await bucket("parts"), "large"];
    const whole = randomBytes(8 * MiB);
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key, ContentType: "a/b" }));
    const Parts: { PartNumber: number; ETag: string | undefined }[] = [];
    for (const [PartNumber, Body] of [
      [1, whole.subarray(0, 5 * MiB)],
      [2, whole.subarray(5 * MiB)],
    ] as const) {
      const { ETag } = await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }));
      Parts.push({ PartNumber, ETag });
    }
    const listed = await client.send(new ListPartsCommand({ Bucket, Key, UploadId }));
    expect(listed.Parts?.map(({ Size }) => Size)).toEqual([5 * MiB, 3 * MiB]);
    const MultipartUpload = { Parts };
    const done = await client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload }));
    expect(done.ETag).toMatch(/^"[0-9a-f]{32}-2"$/);
    expect(digest(await bytesOf(Bucket, Key))).toBe(digest(whole));
    const across = await bytesOf(Bucket, Key, `bytes=${5 * MiB - 10}-${5 * MiB + 9}`);
    expect(across).toEqual(whole.subarray(5 * MiB - 10, 5 * MiB + 10));
    expect((await client.send(new HeadObjectCommand({ Bucket, Key }))).ContentType).toBe("a/b");
  });

  it("aborts an upload, and is refused parts that do not fit", async () => {
    const [Bucket, Key] = [await bucket("aborted"), "k"];
    const start = async () => (await client.send(new CreateMultipartUploadCommand({ Bucket, Key }))).UploadId;
    const UploadId = await start();
    const parts = await Promise.all(
      [1, 2].map((PartNumber) => client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body: "x" }))),
    );
    const complete = (...Parts: { PartNumber: number; ETag: string | undefined }[]) =>
      client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
    const [one, two] = parts.map(({ ETag }, index) => ({ PartNumber: index + 1, ETag }));
    if (one === undefined || two === undefined) throw new Error("two parts were sent");
    await expect(complete(two, one)).rejects.toMatchObject({ name: "InvalidPartOrder" });
    await expect(complete({ ...one, ETag: '"0"' })).rejects.toMatchObject({ name: "InvalidPart" });
    await expect(complete(one, two)).rejects.toMatchObject({ name: "EntityTooSmall" });
    expect((await client.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads).toMatchObject([{ UploadId }]);
    await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
    await expect(complete(one)).rejects.toMatchObject({ name: "NoSuchUpload" });
    expect((await client.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads).toBeUndefined();
  });

  it("reads settings that were never made as S3 tells them", async () => {
    const Bucket = "taken";
    await expect(client.send(new GetBucketCorsCommand({ Bucket }))).rejects.toMatchObject({
      name: "NoSuchCORSConfiguration",
    });
    expect(await client.send(new GetBucketPolicyStatusCommand({ Bucket }))).toMatchObject({
      PolicyStatus: { IsPublic: false },
    });
  });
});

describe("a client that should not get in", { timeout: 60_000 }, () => {
  const refused = async (keys: { accessKey: string; secretKey: string }) => {
    const other = clientFor(platform.ready.endpoints.objectStorage, keys);
    const failure = await other.send(new ListBucketsCommand()).catch((error: unknown) => error);
    other.destroy();
    return failure;
  };

  it("is refused with a wrong secret", async () => {
    const failure = await refused({ ...platform.ready.s3, secretKey: "wrong" });
    expect(failure).toMatchObject({ name: "SignatureDoesNotMatch", $metadata: { httpStatusCode: 403 } });
    expect(JSON.stringify(failure)).not.toContain(platform.ready.s3.secretKey);
  });

  it("is refused with an unknown key", async () => {
    expect(await refused({ ...platform.ready.s3, accessKey: "nobody" })).toMatchObject({ name: "InvalidAccessKeyId" });
  });
});
