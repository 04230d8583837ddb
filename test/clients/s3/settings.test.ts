import {
  DeleteBucketCorsCommand,
  DeleteBucketEncryptionCommand,
  DeleteBucketLifecycleCommand,
  DeleteBucketPolicyCommand,
  DeleteBucketReplicationCommand,
  DeleteBucketTaggingCommand,
  DeletePublicAccessBlockCommand,
  GetBucketCorsCommand,
  GetBucketEncryptionCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketPolicyCommand,
  GetBucketPolicyStatusCommand,
  GetBucketReplicationCommand,
  GetBucketTaggingCommand,
  GetBucketVersioningCommand,
  GetPublicAccessBlockCommand,
  PutBucketCorsCommand,
  PutBucketEncryptionCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketPolicyCommand,
  PutBucketReplicationCommand,
  PutBucketTaggingCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutPublicAccessBlockCommand,
} from "@aws-sdk/client-s3";
import { afterAll, describe, expect, it } from "vitest";
import { platformForFile } from "../../simulator/platform.ts";
import { bucketsOf, clientFor } from "./client.ts";

const platform = await platformForFile();
const client = clientFor(platform.ready.endpoints.objectStorage, platform.ready.s3);
afterAll(() => client.destroy());

const bucket = bucketsOf(client, "settings");
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

  it("a policy without statements is refused", async () => {
    const b = await bucket();
    const command = new PutBucketPolicyCommand({ ...b, Policy: '{"Statement":[]}' });
    await expect(client.send(command)).rejects.toMatchObject({ name: "MalformedPolicy" });
  });
});
