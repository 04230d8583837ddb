import { createHash } from "node:crypto";
import {
  CreateBucketCommand,
  DeleteBucketWebsiteCommand,
  GetBucketAclCommand,
  GetBucketOwnershipControlsCommand,
  GetBucketWebsiteCommand,
  GetObjectAclCommand,
  GetObjectLockConfigurationCommand,
  GetPublicAccessBlockCommand,
  PutBucketAclCommand,
  PutBucketWebsiteCommand,
  PutObjectAclCommand,
  PutObjectCommand,
  PutObjectLockConfigurationCommand,
  PutPublicAccessBlockCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { afterAll, describe, expect, it } from "vitest";
import { platformForFile } from "../../simulator/platform.ts";
import { clientFor } from "./client.ts";

const platform = await platformForFile({ buckets: ["plain"] });
const client = clientFor(platform.ready.endpoints.objectStorage, platform.ready.s3);
afterAll(() => client.destroy());
const b = { Bucket: "plain" };

interface Message {
  headers: Record<string, string>;
  body?: unknown;
}

/** A client that sends its body with another digest, set before the signature. */
function withMd5(digest: (body: string) => string): S3Client {
  const own = clientFor(platform.ready.endpoints.objectStorage, platform.ready.s3);
  own.middlewareStack.add(
    (next) => (args) => {
      const request = args.request as Message;
      request.headers["content-md5"] = digest(String(request.body));
      return next(args);
    },
    { step: "build", priority: "low" },
  );
  return own;
}

/** The text of an answer: some clients check the root element. */
async function answered(command: GetPublicAccessBlockCommand): Promise<string> {
  const own = clientFor(platform.ready.endpoints.objectStorage, platform.ready.s3);
  let text = "";
  own.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const response = result.response as { body: AsyncIterable<Buffer> };
      const parts: Buffer[] = [];
      for await (const part of response.body) parts.push(part);
      text = Buffer.concat(parts).toString();
      return { ...result, response: { ...response, body: Buffer.from(text) } };
    },
    { step: "deserialize", priority: "low" },
  );
  await own.send(command).finally(() => own.destroy());
  return text;
}

describe("requests and answers of the platform's own S3 clients", () => {
  it("a public access block under the root name that they read", async () => {
    const PublicAccessBlockConfiguration = { BlockPublicAcls: true, BlockPublicPolicy: false };
    await client.send(new PutPublicAccessBlockCommand({ ...b, PublicAccessBlockConfiguration }));
    expect(await answered(new GetPublicAccessBlockCommand(b))).toMatch(
      /<BlockPublicAccessBlockConfiguration [^>]*><BlockPublicAcls>true<.*<\/BlockPublicAccessBlockConfiguration>$/,
    );
    expect(await client.send(new GetPublicAccessBlockCommand(b))).toMatchObject({ PublicAccessBlockConfiguration });
  });

  it("a Content-MD5 in hexadecimal digits, which is checked", async () => {
    const Bucket = "locked";
    await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
    const ObjectLockConfiguration = {
      ObjectLockEnabled: "Enabled" as const,
      Rule: { DefaultRetention: { Mode: "GOVERNANCE" as const, Days: 3 } },
    };
    const lock = async (digest: (body: string) => string) => {
      const own = withMd5(digest);
      await own
        .send(new PutObjectLockConfigurationCommand({ Bucket, ObjectLockConfiguration }))
        .finally(() => own.destroy());
    };
    await expect(lock(() => "0".repeat(32))).rejects.toMatchObject({ name: "BadDigest" });
    await expect(lock(() => "0".repeat(31))).rejects.toMatchObject({ name: "InvalidDigest" });
    await lock((body) => createHash("md5").update(body).digest("hex"));
    const read = await client.send(new GetObjectLockConfigurationCommand({ Bucket }));
    expect(read).toMatchObject({ ObjectLockConfiguration });
  });

  it("a website", async () => {
    const read = () => client.send(new GetBucketWebsiteCommand(b));
    await expect(read()).rejects.toMatchObject({ name: "NoSuchWebsiteConfiguration" });
    const WebsiteConfiguration = {
      IndexDocument: { Suffix: "index.html" },
      ErrorDocument: { Key: "error.html" },
      RoutingRules: [
        {
          Condition: { HttpErrorCodeReturnedEquals: "404", KeyPrefixEquals: "docs/" },
          Redirect: { Protocol: "https" as const, HostName: "example.org", ReplaceKeyPrefixWith: "documents/" },
        },
      ],
    };
    await client.send(new PutBucketWebsiteCommand({ ...b, WebsiteConfiguration }));
    expect(await read()).toMatchObject(WebsiteConfiguration);
    const RedirectAllRequestsTo = { HostName: "example.org", Protocol: "https" as const };
    await client.send(new PutBucketWebsiteCommand({ ...b, WebsiteConfiguration: { RedirectAllRequestsTo } }));
    expect(await read()).toMatchObject({ RedirectAllRequestsTo });
    await client.send(new DeleteBucketWebsiteCommand(b));
    await expect(read()).rejects.toMatchObject({ name: "NoSuchWebsiteConfiguration" });
    const wrong = new PutBucketWebsiteCommand({ ...b, WebsiteConfiguration: {} });
    await expect(client.send(wrong)).rejects.toMatchObject({ name: "MalformedXML" });
  });

  it("the access list of a bucket and of an object: all of it is the owner's", async () => {
    await client.send(new PutObjectCommand({ ...b, Key: "k", Body: "x" }));
    const Owner = { ID: String(platform.ready.contractNumber), DisplayName: platform.ready.username };
    const Grants = [{ Grantee: { Type: "CanonicalUser", ...Owner }, Permission: "FULL_CONTROL" }];
    expect(await client.send(new GetBucketAclCommand(b))).toMatchObject({ Owner, Grants });
    expect(await client.send(new GetObjectAclCommand({ ...b, Key: "k" }))).toMatchObject({ Owner, Grants });
    await expect(client.send(new GetObjectAclCommand({ ...b, Key: "none" }))).rejects.toMatchObject({
      name: "NoSuchKey",
    });
  });

  it("the owner of objects, which leaves no access lists to be written", async () => {
    const { OwnershipControls } = await client.send(new GetBucketOwnershipControlsCommand(b));
    expect(OwnershipControls?.Rules).toEqual([{ ObjectOwnership: "BucketOwnerEnforced" }]);
    await expect(client.send(new PutBucketAclCommand({ ...b, ACL: "public-read" }))).rejects.toMatchObject({
      name: "AccessControlListNotSupported",
    });
    await client.send(new PutBucketAclCommand({ ...b, ACL: "bucket-owner-full-control" as "private" }));
    await client.send(new PutBucketAclCommand({ ...b, ACL: "private" }));
    await client.send(new PutObjectCommand({ ...b, Key: "own", Body: "x" }));
    const open = new PutObjectAclCommand({ ...b, Key: "own", ACL: "public-read" });
    await expect(client.send(open)).rejects.toMatchObject({ name: "AccessControlListNotSupported" });
    await client.send(new PutObjectAclCommand({ ...b, Key: "own", ACL: "private" }));
  });
});
