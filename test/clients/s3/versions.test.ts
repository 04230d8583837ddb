import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  DeleteObjectTaggingCommand,
  GetObjectCommand,
  GetObjectLegalHoldCommand,
  GetObjectLockConfigurationCommand,
  GetObjectRetentionCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  PutObjectLockConfigurationCommand,
  PutObjectRetentionCommand,
  PutObjectTaggingCommand,
} from "@aws-sdk/client-s3";
import { afterAll, describe, expect, it } from "vitest";
import { platformForFile } from "../../simulator/platform.ts";
import { bucketsOf, clientFor } from "./client.ts";

const platform = await platformForFile();
const client = clientFor(platform.ready.endpoints.objectStorage, platform.ready.s3);
afterAll(() => client.destroy());

const bucket = bucketsOf(client, "versions");

describe("a bucket with versioning", () => {
  it("keeps what is replaced and deleted, and gives it back", async () => {
    const b = await bucket();
    const put = async (Body: string) => (await client.send(new PutObjectCommand({ ...b, Key: "k", Body }))).VersionId;
    const text = async (VersionId?: string) =>
      (await client.send(new GetObjectCommand({ ...b, Key: "k", VersionId }))).Body?.transformToString();
    const list = async () => {
      const { Versions = [], DeleteMarkers = [] } = await client.send(new ListObjectVersionsCommand(b));
      return {
        versions: Versions.map(({ VersionId, IsLatest }) => [VersionId, IsLatest]),
        markers: DeleteMarkers.map(({ VersionId, IsLatest }) => [VersionId, IsLatest]),
      };
    };
    expect(await put("before")).toBeUndefined();
    const VersioningConfiguration = { Status: "Enabled" as const };
    await client.send(new PutBucketVersioningCommand({ ...b, VersioningConfiguration }));
    const one = await put("one");
    const two = await put("two");
    expect(await text()).toBe("two");
    expect(await text(one)).toBe("one");
    expect(await text("null")).toBe("before");
    expect(await list()).toEqual({
      versions: [
        [two, true],
        [one, false],
        ["null", false],
      ],
      markers: [],
    });

    const deleted = await client.send(new DeleteObjectCommand({ ...b, Key: "k" }));
    expect(deleted.DeleteMarker).toBe(true);
    await expect(text()).rejects.toMatchObject({ name: "NoSuchKey" });
    expect((await client.send(new ListObjectsV2Command(b))).Contents).toBeUndefined();
    expect(await list()).toMatchObject({ markers: [[deleted.VersionId, true]] });
    await expect(text(deleted.VersionId)).rejects.toMatchObject({ name: "MethodNotAllowed" });
    await expect(text("none")).rejects.toMatchObject({ name: "NoSuchVersion" });

    await client.send(new DeleteObjectCommand({ ...b, Key: "k", VersionId: deleted.VersionId }));
    expect(await text()).toBe("two");
    await client.send(new DeleteObjectCommand({ ...b, Key: "k", VersionId: two }));
    expect(await text()).toBe("one");
    await expect(client.send(new DeleteBucketCommand(b))).rejects.toMatchObject({ name: "BucketNotEmpty" });
    const Objects = [one, "null"].map((VersionId) => ({ Key: "k", VersionId }));
    await client.send(new DeleteObjectsCommand({ ...b, Delete: { Objects } }));
    await client.send(new DeleteBucketCommand(b));
  });
});

const Tagging = { TagSet: [{ Key: "team", Value: "web <1>" }] };

describe("an object", () => {
  it("has tags, given with it or later", async () => {
    const b = await bucket();
    const at = { ...b, Key: "k" };
    const tags = async () => (await client.send(new GetObjectTaggingCommand(at))).TagSet;
    await client.send(new PutObjectCommand({ ...at, Body: "x", Tagging: "a=1&b=2" }));
    expect(await tags()).toEqual([
      { Key: "a", Value: "1" },
      { Key: "b", Value: "2" },
    ]);
    expect((await client.send(new GetObjectCommand(at))).TagCount).toBe(2);
    await client.send(new PutObjectTaggingCommand({ ...at, Tagging }));
    expect(await tags()).toEqual(Tagging.TagSet);
    await client.send(new DeleteObjectTaggingCommand(at));
    expect(await tags()).toEqual([]);
    const twice = { TagSet: [...Tagging.TagSet, ...Tagging.TagSet] };
    await expect(client.send(new PutObjectTaggingCommand({ ...at, Tagging: twice }))).rejects.toMatchObject({
      name: "InvalidTag",
    });
  });

  it("of a bucket with object lock stays until its time is over", async () => {
    const Bucket = "locked-bucket";
    await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
    const ObjectLockConfiguration = {
      ObjectLockEnabled: "Enabled" as const,
      Rule: { DefaultRetention: { Mode: "GOVERNANCE" as const, Days: 3 } },
    };
    await client.send(new PutObjectLockConfigurationCommand({ Bucket, ObjectLockConfiguration }));
    expect(await client.send(new GetObjectLockConfigurationCommand({ Bucket }))).toMatchObject({
      ObjectLockConfiguration,
    });
    const at = { Bucket, Key: "k" };
    const { VersionId } = await client.send(new PutObjectCommand({ ...at, Body: "x" }));
    const retention = async () => (await client.send(new GetObjectRetentionCommand(at))).Retention;
    expect(await retention()).toMatchObject({ Mode: "GOVERNANCE" });
    expect((await retention())?.RetainUntilDate?.getTime()).toBeGreaterThan(Date.now() + 2 * 86_400_000);
    await expect(client.send(new GetObjectLegalHoldCommand(at))).rejects.toMatchObject({
      name: "NoSuchObjectLockConfiguration",
    });
    const end = (more: object = {}) => client.send(new DeleteObjectCommand({ ...at, VersionId, ...more }));
    await expect(end()).rejects.toMatchObject({ name: "AccessDenied" });
    const Retention = { Mode: "GOVERNANCE" as const, RetainUntilDate: new Date(Date.now() + 60_000) };
    await expect(client.send(new PutObjectRetentionCommand({ ...at, Retention }))).rejects.toMatchObject({
      name: "AccessDenied",
    });
    await client.send(new PutObjectRetentionCommand({ ...at, Retention, BypassGovernanceRetention: true }));
    expect(await retention()).toMatchObject({ RetainUntilDate: Retention.RetainUntilDate });
    await client.send(new PutObjectLegalHoldCommand({ ...at, LegalHold: { Status: "ON" } }));
    expect((await client.send(new HeadObjectCommand(at))).ObjectLockLegalHoldStatus).toBe("ON");
    await expect(end({ BypassGovernanceRetention: true })).rejects.toMatchObject({ name: "AccessDenied" });
    const { Errors } = await client.send(
      new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: "k", VersionId }] } }),
    );
    expect(Errors).toMatchObject([{ Code: "AccessDenied" }]);
    await client.send(new PutObjectLegalHoldCommand({ ...at, LegalHold: { Status: "OFF" } }));
    await end({ BypassGovernanceRetention: true });
  });

  it("of a bucket without object lock has no retention", async () => {
    const b = await bucket();
    await client.send(new PutObjectCommand({ ...b, Key: "k", Body: "x" }));
    const read = client.send(new GetObjectRetentionCommand({ ...b, Key: "k" }));
    await expect(read).rejects.toMatchObject({ name: "InvalidRequest" });
    await expect(client.send(new GetObjectLockConfigurationCommand(b))).rejects.toMatchObject({
      name: "ObjectLockConfigurationNotFoundError",
    });
  });
});
