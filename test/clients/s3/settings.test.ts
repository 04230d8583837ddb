import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteBucketCorsCommand,
  DeleteBucketEncryptionCommand,
  DeleteBucketLifecycleCommand,
  DeleteBucketPolicyCommand,
  DeleteBucketReplicationCommand,
  DeleteBucketTaggingCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  DeleteObjectTaggingCommand,
  DeletePublicAccessBlockCommand,
  GetBucketCorsCommand,
  GetBucketEncryptionCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketPolicyCommand,
  GetBucketPolicyStatusCommand,
  GetBucketReplicationCommand,
  GetBucketTaggingCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  GetObjectLegalHoldCommand,
  GetObjectLockConfigurationCommand,
  GetObjectRetentionCommand,
  GetObjectTaggingCommand,
  GetPublicAccessBlockCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketCorsCommand,
  PutBucketEncryptionCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketPolicyCommand,
  PutBucketReplicationCommand,
  PutBucketTaggingCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  PutObjectLockConfigurationCommand,
  PutObjectRetentionCommand,
  PutObjectTaggingCommand,
  PutPublicAccessBlockCommand,
} from "@aws-sdk/client-s3";
import { afterAll, describe, expect, it } from "vitest";
import { platformForFile } from "../../simulator/platform.ts";
import { clientFor } from "./client.ts";

const platform = await platformForFile();
const client = clientFor(platform.ready.endpoints.objectStorage, platform.ready.s3);
afterAll(() => client.destroy());

let made = 0;
async function bucket(versioned = false): Promise<{ Bucket: string }> {
  const Bucket = `settings-${made++}`;
  await client.send(new CreateBucketCommand({ Bucket }));
  const VersioningConfiguration = { Status: "Enabled" as const };
  if (versioned) await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }));
  return { Bucket };
}
const policy = (Principal: unknown) =>
  JSON.stringify({
    Version: "2012-10-17",
    Statement: [{ Sid: "all", Effect: "Allow", Principal, Action: ["s3:GetObject"], Resource: ["arn:aws:s3:::b/*"] }],
  });

const CORSConfiguration = {
  CORSRules: [
    {
      ID: "web",
      AllowedHeaders: ["*"],
      AllowedMethods: ["GET", "PUT"],
      AllowedOrigins: ["https://a.example", "https://b.example"],
      ExposeHeaders: ["ETag"],
      MaxAgeSeconds: 300,
    },
  ],
};
const ServerSideEncryptionConfiguration = {
  Rules: [{ ApplyServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" as const } }],
};
const LifecycleConfiguration = {
  Rules: [
    {
      ID: "old & gone",
      Filter: { Prefix: "logs/" },
      Status: "Enabled" as const,
      Expiration: { Days: 30 },
      NoncurrentVersionExpiration: { NoncurrentDays: 7 },
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
    },
  ],
};
const ReplicationConfiguration = {
  Role: "arn:aws:iam::1:role/r",
  Rules: [{ ID: "copy", Prefix: "", Status: "Enabled" as const, Destination: { Bucket: "arn:aws:s3:::other" } }],
};
const Tagging = { TagSet: [{ Key: "team", Value: "web <1>" }] };
const PublicAccessBlockConfiguration = {
  BlockPublicAcls: true,
  IgnorePublicAcls: false,
  BlockPublicPolicy: true,
  RestrictPublicBuckets: false,
};

describe("a setting of a bucket that was never made is told by its code, then read as it was written", () => {
  it("cors", async () => {
    const b = await bucket();
    const read = () => client.send(new GetBucketCorsCommand(b));
    await expect(read()).rejects.toMatchObject({ name: "NoSuchCORSConfiguration" });
    await client.send(new PutBucketCorsCommand({ ...b, CORSConfiguration }));
    expect(await read()).toMatchObject(CORSConfiguration);
    await client.send(new DeleteBucketCorsCommand(b));
    await expect(read()).rejects.toMatchObject({ name: "NoSuchCORSConfiguration" });
  });

  it("encryption, which objects then say", async () => {
    const b = await bucket();
    const read = () => client.send(new GetBucketEncryptionCommand(b));
    await expect(read()).rejects.toMatchObject({ name: "ServerSideEncryptionConfigurationNotFoundError" });
    await client.send(new PutBucketEncryptionCommand({ ...b, ServerSideEncryptionConfiguration }));
    expect(await read()).toMatchObject({ ServerSideEncryptionConfiguration });
    const stored = await client.send(new PutObjectCommand({ ...b, Key: "k", Body: "x" }));
    expect(stored.ServerSideEncryption).toBe("AES256");
    await client.send(new DeleteBucketEncryptionCommand(b));
    await expect(read()).rejects.toThrow();
  });

  it("lifecycle", async () => {
    const b = await bucket();
    const read = () => client.send(new GetBucketLifecycleConfigurationCommand(b));
    await expect(read()).rejects.toMatchObject({ name: "NoSuchLifecycleConfiguration" });
    await client.send(new PutBucketLifecycleConfigurationCommand({ ...b, LifecycleConfiguration }));
    expect(await read()).toMatchObject(LifecycleConfiguration);
    await client.send(new DeleteBucketLifecycleCommand(b));
    await expect(read()).rejects.toThrow();
  });

  it("policy, and whether it is public", async () => {
    const b = await bucket();
    const read = () => client.send(new GetBucketPolicyCommand(b));
    const isPublic = async () => (await client.send(new GetBucketPolicyStatusCommand(b))).PolicyStatus?.IsPublic;
    await expect(read()).rejects.toMatchObject({ name: "NoSuchBucketPolicy" });
    await client.send(new PutBucketPolicyCommand({ ...b, Policy: policy({ AWS: ["arn:aws:iam:::user/1"] }) }));
    expect(await isPublic()).toBe(false);
    await client.send(new PutBucketPolicyCommand({ ...b, Policy: policy("*") }));
    expect((await read()).Policy).toBe(policy("*"));
    expect(await isPublic()).toBe(true);
    await client.send(new DeleteBucketPolicyCommand(b));
    await expect(read()).rejects.toThrow();
  });

  it("publicAccessBlock, which refuses a public policy", async () => {
    const b = await bucket();
    const read = () => client.send(new GetPublicAccessBlockCommand(b));
    await expect(read()).rejects.toMatchObject({ name: "NoSuchPublicAccessBlockConfiguration" });
    await client.send(new PutPublicAccessBlockCommand({ ...b, PublicAccessBlockConfiguration }));
    expect(await read()).toMatchObject({ PublicAccessBlockConfiguration });
    const open = new PutBucketPolicyCommand({ ...b, Policy: policy("*") });
    await expect(client.send(open)).rejects.toMatchObject({ name: "AccessDenied" });
    await client.send(new DeletePublicAccessBlockCommand(b));
    await client.send(new PutBucketPolicyCommand({ ...b, Policy: policy("*") }));
  });

  it("replication, which needs versioning", async () => {
    const plain = await bucket();
    const put = (b: { Bucket: string }) =>
      client.send(new PutBucketReplicationCommand({ ...b, ReplicationConfiguration }));
    await expect(put(plain)).rejects.toMatchObject({ name: "InvalidRequest" });
    const b = await bucket(true);
    const read = () => client.send(new GetBucketReplicationCommand(b));
    await expect(read()).rejects.toMatchObject({ name: "ReplicationConfigurationNotFoundError" });
    await put(b);
    expect(await read()).toMatchObject({ ReplicationConfiguration });
    await client.send(new DeleteBucketReplicationCommand(b));
    await expect(read()).rejects.toThrow();
  });

  it("tagging", async () => {
    const b = await bucket();
    const read = () => client.send(new GetBucketTaggingCommand(b));
    await expect(read()).rejects.toMatchObject({ name: "NoSuchTagSet" });
    await client.send(new PutBucketTaggingCommand({ ...b, Tagging }));
    expect(await read()).toMatchObject(Tagging);
    await client.send(new DeleteBucketTaggingCommand(b));
    await expect(read()).rejects.toThrow();
  });

  it("versioning", async () => {
    const b = await bucket();
    expect((await client.send(new GetBucketVersioningCommand(b))).Status).toBeUndefined();
    const VersioningConfiguration = { Status: "Suspended" as const };
    await client.send(new PutBucketVersioningCommand({ ...b, VersioningConfiguration }));
    expect((await client.send(new GetBucketVersioningCommand(b))).Status).toBe("Suspended");
  });

  it.each([
    ["another document", new PutBucketCorsCommand({ Bucket: "settings-0", CORSConfiguration: { CORSRules: [] } })],
    [
      "an unknown method",
      new PutBucketCorsCommand({
        Bucket: "settings-0",
        CORSConfiguration: { CORSRules: [{ AllowedMethods: ["STEAL"], AllowedOrigins: ["*"] }] },
      }),
    ],
  ])("with %s it is refused", async (_, command) => {
    await expect(client.send(command)).rejects.toMatchObject({ name: "MalformedXML" });
  });

  it("a policy that is none is refused", async () => {
    const b = await bucket();
    const command = new PutBucketPolicyCommand({ ...b, Policy: '{"Statement":[]}' });
    await expect(client.send(command)).rejects.toMatchObject({ name: "MalformedPolicy" });
  });
});

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
