import type { Bucket } from "../buckets/records.ts";
import { statusOf } from "../buckets/versions.ts";
import type { BucketCall, Depot, S3Reply } from "../call.ts";
import { type Code, fault } from "../fault.ts";
import { textIn } from "../request/body.ts";
import { elementsIn, textOf, type Xml, xmlDocument } from "../xml/xml.ts";
import { shaped, treeOf } from "../xml/xml-tree.ts";
import { isPublic, policyIn } from "./policy.ts";
import { settingShapes } from "./setting-shapes.ts";

/** The answer to a read of a setting that a bucket does not have: a document, or an error code. */
const unset: Record<string, Xml | Code> = {
  cors: "NoSuchCORSConfiguration",
  encryption: "ServerSideEncryptionConfigurationNotFoundError",
  lifecycle: "NoSuchLifecycleConfiguration",
  "object-lock": "ObjectLockConfigurationNotFoundError",
  // Objects belong to the owner of their bucket: there are no access lists to be written.
  ownershipControls: ["OwnershipControls", [["Rule", [["ObjectOwnership", "BucketOwnerEnforced"]]]]],
  policy: "NoSuchBucketPolicy",
  policyStatus: ["PolicyStatus", [["IsPublic", false]]],
  publicAccessBlock: "NoSuchPublicAccessBlockConfiguration",
  replication: "ReplicationConfigurationNotFoundError",
  tagging: "NoSuchTagSet",
  versioning: ["VersioningConfiguration", []],
  website: "NoSuchWebsiteConfiguration",
};

/** Settings that cannot be removed. */
const notRemovable = new Set(["object-lock", "versioning", "policyStatus", "ownershipControls"]);

/** Settings that cannot be written. */
const readOnly = new Set(["policyStatus", "ownershipControls"]);

/** Query parameters that name a sub-resource of S3: the call is not about the object or bucket itself. */
export const subresources = new Set([
  ...Object.keys(unset),
  ...Object.keys(settingShapes),
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
  ...["metrics", "notification", "partNumber", "requestPayment", "restore", "select", "torrent"],
  ...["uploadId", "uploads", "versions"],
]);

const unknown = (name: string) => fault("NotImplemented", `The object storage has no ${name} here`);
const badState = (message: string) => fault("InvalidBucketState", message);

/** The condition that a bucket must meet before a setting is made. */
const conditions: Record<string, (bucket: Bucket, document: string) => void> = {
  versioning({ settings }, document) {
    if (settings["object-lock"] !== undefined && textOf(document, "Status") !== "Enabled") {
      throw badState("A bucket with object lock keeps its versions");
    }
  },
  replication(bucket) {
    if (statusOf(bucket) !== "Enabled") throw fault("InvalidRequest", "Replication needs versioning: enable it first");
  },
  "object-lock"(bucket) {
    if (statusOf(bucket) !== "Enabled") throw badState("Object lock needs versioning: enable it first");
  },
  tagging: (_, document) => checkTags(document, 50),
  website(_, document) {
    if (!/<(IndexDocument|RedirectAllRequestsTo)>/.test(document)) {
      throw fault("MalformedXML", "A website needs an IndexDocument or RedirectAllRequestsTo");
    }
  },
  policy({ settings: { publicAccessBlock = "" } }, document) {
    if (textOf(publicAccessBlock, "BlockPublicPolicy") === "true" && isPublic(document)) {
      throw fault("AccessDenied", "Access denied: the public access block of the bucket refuses public policies");
    }
  },
};

export function checkTags(document: string, most: number): void {
  const keys = elementsIn(document, "Key");
  if (keys.length > most || new Set(keys).size < keys.length) {
    throw fault("InvalidTag", `There can be at most ${most} tags, each key once`);
  }
}

/** The document that a body holds, as it is given back later. */
export function documentIn(name: string, body: string): string {
  const [root, shape, shownRoot = root] = settingShapes[name] ?? [];
  if (root === undefined || shape === undefined || shownRoot === undefined) throw unknown(name);
  return xmlDocument([shownRoot, shaped(treeOf(body, root), shape)]);
}

/** The settings of buckets. Versioning, object lock, tags and encryption have effects; the rest is kept as it was sent. */
export function settingOperations(depot: Depot) {
  const { buckets } = depot.buckets;

  /** Changes the current row of the bucket, which may differ from that of the call. */
  const change = (name: string, work: (bucket: Bucket) => Bucket) =>
    depot.write(() => {
      const bucket = buckets.get(name);
      if (bucket !== undefined) buckets.put(name, work(bucket));
    });

  return {
    read({ bucket: { settings } }: BucketCall, name: string): S3Reply {
      const { policy, [name]: made } = settings;
      if (name === "policyStatus" && policy !== undefined) {
        return { status: 200, xml: ["PolicyStatus", [["IsPublic", isPublic(policy)]]] };
      }
      if (made !== undefined) {
        return {
          status: 200,
          text: { type: name === "policy" ? "application/json" : "application/xml", content: made },
        };
      }
      const none = unset[name];
      if (none === undefined) throw unknown(name);
      if (typeof none === "string") throw fault(none, "The setting does not exist");
      return { status: 200, xml: none };
    },

    async write({ bucket, request, signed }: BucketCall, name: string): Promise<S3Reply> {
      if (unset[name] === undefined || readOnly.has(name)) throw unknown(name);
      const body = await textIn(request, signed);
      if (name === "policy") policyIn(body);
      const document = name === "policy" ? body : documentIn(name, body);
      await change(bucket.name, (present) => {
        conditions[name]?.(present, document);
        return { ...present, settings: { ...present.settings, [name]: document } };
      });
      return { status: name === "policy" ? 204 : 200 };
    },

    async remove({ bucket }: BucketCall, name: string): Promise<S3Reply> {
      if (unset[name] === undefined || notRemovable.has(name)) throw unknown(name);
      await change(bucket.name, (present) => {
        const { [name]: _, ...settings } = present.settings;
        return { ...present, settings };
      });
      return { status: 204 };
    },
  };
}
