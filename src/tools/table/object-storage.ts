import { z } from "zod";
import { fromXml } from "../shape/xml.ts";
import { anything, list, type Row, reading, resource } from "./row.ts";

const group = "objectstorage";
const [BUCKET, OBJECT] = ["/{bucket}", "/{bucket}/{key}"];
/** The content of an XML answer, without its root element. */
const content = (answer: unknown) => fromXml(String(answer)) || {};

/** A tool for one setting of a bucket or an object. */
const part = (name: string, path: string, asked: string, description: string, result: z.ZodType = anything): Row =>
  reading({
    name: `get_object_storage_${name}`,
    group,
    api: "storage",
    region: "bucket",
    path,
    description,
    result,
    query: () => ({ [asked]: "" }),
    shape: content,
  });
const ofBucket = (name: string, asked: string, description: string, result?: z.ZodType) =>
  part(`bucket_${name}`, BUCKET, asked, description, result);
const ofObject = (name: string, asked: string, description: string) =>
  part(`object_${name}`, OBJECT, asked, description);

const managed = (name: string, path: string, description: string) =>
  reading({ name, group, api: "management", path, description, result: name.startsWith("list_") ? list : resource });

const facts = ["etag", "content-length", "content-type", "last-modified"];
const isFact = (header: string) => facts.includes(header) || header.startsWith("x-amz-");

export const objectStorage: readonly Row[] = [
  reading({
    name: "list_object_storage_buckets",
    group,
    api: "storage",
    region: "default",
    path: "/",
    description: "All buckets of the key's owner with their creation dates. Start here for object storage.",
    result: z.looseObject({ Buckets: z.array(z.looseObject({ Name: z.string() })) }),
    shape: content,
  }),
  reading({
    name: "get_object_storage_bucket_location",
    group,
    api: "storage",
    region: "default",
    path: BUCKET,
    description: "The region of a bucket. get_object_storage_region tells its endpoint.",
    result: z.object({ LocationConstraint: z.string() }),
    query: () => ({ location: "" }),
    shape: (answer) => ({ LocationConstraint: fromXml(String(answer)) }),
  }),
  reading({
    name: "head_object_storage_bucket",
    group,
    api: "storage",
    region: "bucket",
    method: "HEAD",
    path: BUCKET,
    description: "Whether a bucket exists and may be read.",
    result: z.object({ bucket: z.string(), accessible: z.literal(true) }),
    shape: (_, { bucket }) => ({ bucket, accessible: true }),
  }),
  ofBucket(
    "cors",
    "cors",
    "CORS rules of a bucket: which web sites may use it. An error with NoSuchCORSConfiguration means none.",
  ),
  ofBucket("encryption", "encryption", "Default encryption of a bucket."),
  ofBucket(
    "lifecycle",
    "lifecycle",
    "Lifecycle rules of a bucket: what expires when. Use it when objects disappear, or never do.",
  ),
  reading({
    name: "get_object_storage_bucket_policy",
    group,
    api: "storage",
    region: "bucket",
    path: BUCKET,
    description:
      "Policy of a bucket: who may do what. get_object_storage_bucket_policy_status tells whether that makes it public.",
    result: z.looseObject({ Statement: z.array(z.looseObject({})) }),
    query: () => ({ policy: "" }),
    shape: (answer): unknown => JSON.parse(String(answer)),
  }),
  ofBucket("policy_status", "policyStatus", "Whether the policy of a bucket makes it public."),
  ofBucket("replication", "replication", "Replication rules of a bucket."),
  ofBucket("tagging", "tagging", "Tags of a bucket."),
  ofBucket(
    "versioning",
    "versioning",
    "Whether a bucket keeps versions of its objects. Then list_object_storage_object_versions.",
  ),
  ofBucket(
    "public_access_block",
    "publicAccessBlock",
    "Settings of a bucket that block public access, whatever its policy says.",
  ),
  ofBucket("lock_configuration", "object-lock", "Default retention of a bucket with object lock."),
  reading({
    name: "list_object_storage_objects",
    group,
    api: "storage",
    region: "bucket",
    path: BUCKET,
    description:
      "Objects of a bucket with size and age, by the order of their keys. For the next page set continuation_token to NextContinuationToken.",
    result: z.looseObject({ Contents: z.array(z.looseObject({ Key: z.string() })) }),
    narrow: "set prefix or a smaller max_keys",
    args: {
      prefix: z.string().max(1024).optional().describe("Only keys that begin with it."),
      continuation_token: z.string().max(2048).optional().describe("NextContinuationToken of the page before."),
      max_keys: z.int().min(1).max(1000).default(1000).describe("Objects per page."),
    },
    query: ({ prefix, continuation_token: token, max_keys: most }) => ({
      "list-type": "2",
      "max-keys": String(most),
      ...(prefix && { prefix }),
      ...(token && { "continuation-token": token }),
    }),
    shape: (answer) => ({ Contents: [], ...Object(content(answer)) }),
  }),
  reading({
    name: "head_object_storage_object",
    group,
    api: "storage",
    region: "bucket",
    method: "HEAD",
    path: OBJECT,
    description: "Size, type, age and metadata of an object, without its content.",
    result: z.looseObject({ etag: z.string() }),
    shape: (_, __, headers) => Object.fromEntries(Object.entries(headers).filter(([name]) => isFact(name))),
  }),
  reading({
    name: "list_object_storage_object_versions",
    group,
    api: "storage",
    region: "bucket",
    path: BUCKET,
    description:
      "Versions and delete markers of the objects of a bucket. Use it to see whether a lost object can be restored.",
    result: z.looseObject({ Version: z.array(z.looseObject({ Key: z.string() })) }),
    narrow: "set prefix",
    args: { prefix: z.string().max(1024).optional().describe("Only keys that begin with it.") },
    query: ({ prefix }) => ({ versions: "", ...(prefix && { prefix }) }),
    shape: (answer) => ({ Version: [], ...Object(content(answer)) }),
  }),
  ofObject("tagging", "tagging", "Tags of an object."),
  ofObject("retention", "retention", "Until when an object cannot be deleted."),
  ofObject("legal_hold", "legal-hold", "Whether an object has a legal hold, which keeps it from being deleted."),
  managed(
    "list_object_storage_access_keys",
    "/accesskeys",
    "Access keys for object storage with state and regions. Their secrets are never shown.",
  ),
  managed("get_object_storage_access_key", "/accesskeys/{access_key_id}", "One access key, without its secret."),
  managed("list_object_storage_regions", "/regions", "Regions of object storage with their endpoints."),
  managed(
    "get_object_storage_region",
    "/regions/{region}",
    "One region: its endpoint, website host and storage classes.",
  ),
];
