import type { S3Reply } from "./call.ts";
import { type Code, fault } from "./fault.ts";
import type { Xml } from "./xml.ts";

/** What a bucket whose setting was never made answers: a document, or the code that says there is none. */
const ofBuckets: Record<string, Xml | Code> = {
  cors: "NoSuchCORSConfiguration",
  encryption: "ServerSideEncryptionConfigurationNotFoundError",
  lifecycle: "NoSuchLifecycleConfiguration",
  "object-lock": "ObjectLockConfigurationNotFoundError",
  policy: "NoSuchBucketPolicy",
  policyStatus: ["PolicyStatus", [["IsPublic", false]]],
  publicAccessBlock: "NoSuchPublicAccessBlockConfiguration",
  replication: "ReplicationConfigurationNotFoundError",
  tagging: "NoSuchTagSet",
  versioning: ["VersioningConfiguration", []],
};

const ofObjects: Record<string, Xml | Code> = {
  "legal-hold": "NoSuchObjectLockConfiguration",
  retention: "NoSuchObjectLockConfiguration",
  tagging: ["Tagging", [["TagSet", []]]],
};

/** Sub-resources that are known to S3 and never the object or bucket itself. */
export const subresources = new Set([
  ...Object.keys(ofBuckets),
  ...Object.keys(ofObjects),
  ...[
    "accelerate",
    "acl",
    "analytics",
    "attributes",
    "delete",
    "intelligent-tiering",
    "inventory",
    "location",
    "logging",
  ],
  ...["metrics", "notification", "ownershipControls", "partNumber", "requestPayment", "restore", "select", "torrent"],
  ...["uploadId", "uploads", "versions", "website"],
]);

/** Reads a setting. Settings cannot be made here, so that none is kept that would not be followed. */
export function readSetting(of: "bucket" | "object", name: string): S3Reply {
  const answer = (of === "bucket" ? ofBuckets : ofObjects)[name];
  if (answer === undefined) throw fault("NotImplemented", `The object storage has no ${name} here`);
  if (typeof answer === "string") throw fault(answer, "The setting was never made");
  return { status: 200, xml: answer };
}
