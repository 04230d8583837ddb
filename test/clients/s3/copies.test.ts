import { createHash, randomBytes } from "node:crypto";
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListPartsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} from "@aws-sdk/client-s3";
import { afterAll, describe, expect, it } from "vitest";
import { platformForFile } from "../../simulator/platform.ts";
import { clientFor } from "./client.ts";

const platform = await platformForFile({ buckets: ["from", "into"] });
const client = clientFor(platform.ready.endpoints.objectStorage, platform.ready.s3);
afterAll(() => client.destroy());

const MiB = 1024 * 1024;
const digest = (content: Uint8Array | undefined) =>
  createHash("sha256")
    .update(content ?? "")
    .digest("hex");
const md5 = (content: Buffer) => createHash("md5").update(content).digest("hex");
const put = (Key: string, Body: Buffer | string, Bucket = "from") =>
  client.send(new PutObjectCommand({ Bucket, Key, Body }));
const bytes = async (at: { Bucket: string; Key: string }) =>
  (await client.send(new GetObjectCommand(at))).Body?.transformToByteArray();

/** An object of two parts: 5 MiB, and 3 bytes. */
async function inParts(Bucket: string, Key: string): Promise<Buffer> {
  const content = randomBytes(5 * MiB + 3);
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  const Parts = [];
  for (const [index, Body] of [content.subarray(0, 5 * MiB), content.subarray(5 * MiB)].entries()) {
    const PartNumber = index + 1;
    const { ETag } = await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }));
    Parts.push({ PartNumber, ETag });
  }
  await client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
  return content;
}

describe("a copy between buckets in parts", { timeout: 60_000 }, () => {
  const at = { Bucket: "into", Key: "in/parts" };

  it("is made of ranges of an object of another bucket", async () => {
    const content = randomBytes(6 * MiB);
    const { ETag: CopySourceIfMatch } = await put("ä large", content);
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(at));
    const part = (PartNumber: number, CopySourceRange: string) =>
      client.send(
        new UploadPartCopyCommand({
          ...at,
          ...{ UploadId, PartNumber, CopySourceRange, CopySourceIfMatch },
          CopySource: encodeURI("from/ä large"),
        }),
      );
    const copied = [await part(1, `bytes=0-${5 * MiB - 1}`), await part(2, `bytes=${5 * MiB}-${6 * MiB - 1}`)].map(
      ({ CopyPartResult }) => CopyPartResult,
    );
    expect(copied.map((each) => each?.ETag)).toEqual([
      `"${md5(content.subarray(0, 5 * MiB))}"`,
      `"${md5(content.subarray(5 * MiB))}"`,
    ]);
    expect(copied[0]?.LastModified?.getTime()).toBeGreaterThan(Date.now() - 600_000);
    const { Parts } = await client.send(new ListPartsCommand({ ...at, UploadId }));
    expect(Parts?.map(({ Size }) => Size)).toEqual([5 * MiB, MiB]);
    const MultipartUpload = { Parts: copied.map((each, index) => ({ PartNumber: index + 1, ETag: each?.ETag })) };
    await client.send(new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload }));
    expect(digest(await bytes(at))).toBe(digest(content));
  });

  it.each([
    ["a source that does not exist", { CopySource: "from/none" }, "NoSuchKey"],
    ["a bucket that does not exist", { CopySource: "none/small" }, "NoSuchBucket"],
    ["a range behind the end", { CopySourceRange: "bytes=0-99" }, "InvalidArgument"],
    ["a range without an end", { CopySourceRange: "bytes=1-" }, "InvalidArgument"],
    ["an ETag that is another one", { CopySourceIfMatch: '"0"' }, "PreconditionFailed"],
    ["an upload that does not exist", { UploadId: "none" }, "NoSuchUpload"],
    ["a number that is none", { PartNumber: 0 }, "InvalidArgument"],
  ])("with %s is refused", async (_, wrong, name) => {
    await put("small", "small");
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(at));
    const right = { ...at, UploadId, PartNumber: 1, CopySource: "from/small" };
    await expect(client.send(new UploadPartCopyCommand({ ...right, ...wrong }))).rejects.toMatchObject({ name });
    expect((await client.send(new ListPartsCommand({ ...at, UploadId }))).Parts ?? []).toEqual([]);
  });

  it("or whole keeps the conditions on its source, and its ETag is the digest of the content", async () => {
    const content = await inParts("from", "in parts");
    const { ETag } = await client.send(new HeadObjectCommand({ Bucket: "from", Key: "in parts" }));
    const copy = (more: object) =>
      client.send(new CopyObjectCommand({ Bucket: "into", Key: "whole", CopySource: "from/in%20parts", ...more }));
    await expect(copy({ CopySourceIfMatch: '"0"' })).rejects.toMatchObject({ name: "PreconditionFailed" });
    await expect(copy({ CopySourceIfNoneMatch: ETag })).rejects.toMatchObject({ name: "PreconditionFailed" });
    await copy({ CopySourceIfMatch: ETag });
    const copied = await client.send(new HeadObjectCommand({ Bucket: "into", Key: "whole" }));
    expect(copied.ETag).toBe(`"${md5(content)}"`);
  });
});

describe("an empty versionId", () => {
  const at = { Bucket: "from", Key: "versioned", VersionId: "" };

  it.each(["never", "Enabled"] as const)("is none, with versioning %s", async (Status) => {
    const Bucket = `empty-${Status.toLowerCase()}`;
    await client.send(new CreateBucketCommand({ Bucket }));
    if (Status !== "never") {
      await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }));
    }
    const its = { ...at, Bucket };
    await put(at.Key, "text", Bucket);
    expect((await client.send(new HeadObjectCommand(its))).ContentLength).toBe(4);
    expect(Buffer.from((await bytes(its)) ?? []).toString()).toBe("text");
    await client.send(
      new CopyObjectCommand({ Bucket: "into", Key: "c", CopySource: `${Bucket}/${at.Key}?versionId=` }),
    );
    // A copy in a bucket without versioning has no version, whatever the source has.
    expect((await client.send(new HeadObjectCommand({ Bucket: "into", Key: "c" }))).VersionId).toBeUndefined();
    expect((await client.send(new DeleteObjectCommand(its))).DeleteMarker).toBe(Status === "never" ? undefined : true);
    await put("other", "text", Bucket);
    const Objects = [{ Key: "other", VersionId: "" }];
    const { Deleted, Errors } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect([Deleted?.map(({ Key }) => Key), Errors]).toEqual([["other"], undefined]);
    await expect(client.send(new HeadObjectCommand({ Bucket, Key: "other" }))).rejects.toMatchObject({
      name: "NotFound",
    });
  });
});

describe("an object of several parts", { timeout: 60_000 }, () => {
  const at = { Bucket: "from", Key: "of-two" };

  it("is read part by part", async () => {
    const content = await inParts(at.Bucket, at.Key);
    const head = (PartNumber: number) => client.send(new HeadObjectCommand({ ...at, PartNumber }));
    expect(await head(1)).toMatchObject({ PartsCount: 2, ContentLength: 5 * MiB });
    expect(await head(2)).toMatchObject({
      PartsCount: 2,
      ContentLength: 3,
      ContentRange: `bytes ${5 * MiB}-${5 * MiB + 2}/${5 * MiB + 3}`,
    });
    const { Body } = await client.send(new GetObjectCommand({ ...at, PartNumber: 2 }));
    expect(Buffer.from((await Body?.transformToByteArray()) ?? [])).toEqual(content.subarray(5 * MiB));
    await expect(client.send(new GetObjectCommand({ ...at, PartNumber: 3 }))).rejects.toMatchObject({
      name: "InvalidPartNumber",
    });
    const both = new GetObjectCommand({ ...at, PartNumber: 1, Range: "bytes=0-1" });
    await expect(client.send(both)).rejects.toMatchObject({ name: "InvalidRequest" });
  });

  it("or of one answers the whole as its first", async () => {
    await put("of-one", "text");
    const whole = await client.send(new HeadObjectCommand({ Bucket: "from", Key: "of-one", PartNumber: 1 }));
    expect(whole).toMatchObject({ ContentLength: 4, ETag: `"${md5(Buffer.from("text"))}"` });
    expect(whole.PartsCount).toBeUndefined();
    await put("of-none", "");
    const none = await client.send(new HeadObjectCommand({ Bucket: "from", Key: "of-none", PartNumber: 1 }));
    expect(none.ContentLength).toBe(0);
  });

  it("tells its attributes", async () => {
    await inParts(at.Bucket, at.Key);
    const { ETag = "" } = await client.send(new HeadObjectCommand(at));
    const attributes = (Key: string) =>
      client.send(
        new GetObjectAttributesCommand({
          ...{ Bucket: "from", Key },
          ObjectAttributes: ["ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize"],
        }),
      );
    expect(await attributes(at.Key)).toMatchObject({
      ETag: ETag.replaceAll('"', ""),
      StorageClass: "STANDARD",
      ObjectSize: 5 * MiB + 3,
      ObjectParts: {
        TotalPartsCount: 2,
        IsTruncated: false,
        Parts: [
          { PartNumber: 1, Size: 5 * MiB },
          { PartNumber: 2, Size: 3 },
        ],
      },
    });
    await client.send(new PutObjectCommand({ ...at, Key: "sum", Body: "text", ChecksumAlgorithm: "SHA256" }));
    const one = await attributes("sum");
    expect(one.Checksum).toEqual({
      ChecksumSHA256: createHash("sha256").update("text").digest("base64"),
      ChecksumType: "FULL_OBJECT",
    });
    expect(one.ObjectParts).toBeUndefined();
    expect(one.LastModified?.getTime()).toBeGreaterThan(Date.now() - 600_000);
    const few = await client.send(
      new GetObjectAttributesCommand({ Bucket: "from", Key: "sum", ObjectAttributes: ["ObjectSize"] }),
    );
    expect([few.ObjectSize, few.ETag]).toEqual([4, undefined]);
    const wrong = new GetObjectAttributesCommand({
      Bucket: "from",
      Key: "sum",
      ObjectAttributes: ["Colour" as "ETag"],
    });
    await expect(client.send(wrong)).rejects.toMatchObject({ name: "InvalidArgument" });
  });
});
