import type { Shape } from "../xml/xml-tree.ts";

const any = () => true;
const some = (text: string) => text !== "";
const whole = (text: string) => /^\d{1,9}$/.test(text);
const yesOrNo = (text: string) => text === "true" || text === "false";
const oneOf =
  (...values: string[]) =>
  (text: string) =>
    values.includes(text);
const date = (text: string) => !Number.isNaN(Date.parse(text));

const tag: Shape = { Key: some, Value: any };
const enabled = oneOf("Enabled", "Disabled");
const protocol = oneOf("http", "https");
const routingRule: Shape = {
  "Condition?": { "HttpErrorCodeReturnedEquals?": some, "KeyPrefixEquals?": any },
  Redirect: {
    "HostName?": some,
    "HttpRedirectCode?": some,
    "Protocol?": protocol,
    "ReplaceKeyPrefixWith?": any,
    "ReplaceKeyWith?": any,
  },
};
const lockMode = oneOf("GOVERNANCE", "COMPLIANCE");

/** The documents that settings are made with: root element and content, and the root element of what reads give. */
export const settingShapes: Readonly<Record<string, readonly [root: string, shape: Shape, shownRoot?: string]>> = {
  cors: [
    "CORSConfiguration",
    {
      "CORSRule+": {
        "ID?": any,
        "AllowedHeader*": some,
        "AllowedMethod+": oneOf("GET", "PUT", "HEAD", "POST", "DELETE"),
        "AllowedOrigin+": some,
        "ExposeHeader*": some,
        "MaxAgeSeconds?": whole,
      },
    },
  ],
  encryption: [
    "ServerSideEncryptionConfiguration",
    {
      "Rule+": {
        ApplyServerSideEncryptionByDefault: { SSEAlgorithm: oneOf("AES256") },
        "BucketKeyEnabled?": yesOrNo,
      },
    },
  ],
  lifecycle: [
    "LifecycleConfiguration",
    {
      "Rule+": {
        "ID?": any,
        "Prefix?": any,
        "Filter?": { "Prefix?": any, "Tag?": tag, "And?": { "Prefix?": any, "Tag*": tag } },
        Status: enabled,
        "Expiration?": { "Date?": date, "Days?": whole, "ExpiredObjectDeleteMarker?": yesOrNo },
        "NoncurrentVersionExpiration?": { NoncurrentDays: whole, "NewerNoncurrentVersions?": whole },
        "AbortIncompleteMultipartUpload?": { DaysAfterInitiation: whole },
      },
    },
  ],
  "object-lock": [
    "ObjectLockConfiguration",
    {
      "ObjectLockEnabled?": oneOf("Enabled"),
      "Rule?": { DefaultRetention: { Mode: lockMode, "Days?": whole, "Years?": whole } },
    },
  ],
  publicAccessBlock: [
    "PublicAccessBlockConfiguration",
    {
      "BlockPublicAcls?": yesOrNo,
      "IgnorePublicAcls?": yesOrNo,
      "BlockPublicPolicy?": yesOrNo,
      "RestrictPublicBuckets?": yesOrNo,
    },
    // The name that the platform's own clients read; others do not look at it.
    "BlockPublicAccessBlockConfiguration",
  ],
  replication: [
    "ReplicationConfiguration",
    {
      Role: any,
      "Rule+": {
        "ID?": any,
        "Priority?": whole,
        "Prefix?": any,
        "Filter?": { "Prefix?": any, "Tag?": tag },
        Status: enabled,
        "DeleteMarkerReplication?": { Status: enabled },
        Destination: { Bucket: some, "StorageClass?": some },
      },
    },
  ],
  tagging: ["Tagging", { TagSet: { "Tag*": tag } }],
  versioning: [
    "VersioningConfiguration",
    { "MfaDelete?": oneOf("Disabled"), "Status?": oneOf("Enabled", "Suspended") },
  ],
  website: [
    "WebsiteConfiguration",
    {
      "ErrorDocument?": { Key: some },
      "IndexDocument?": { Suffix: some },
      "RedirectAllRequestsTo?": { HostName: some, "Protocol?": protocol },
      "RoutingRules?": { "RoutingRule*": routingRule },
      // The platform's own clients send the rules without the element around them.
      "RoutingRule*": routingRule,
    },
  ],
  retention: ["Retention", { Mode: lockMode, RetainUntilDate: date }],
  "legal-hold": ["LegalHold", { Status: oneOf("ON", "OFF") }],
};
