import type { BlobRef } from "../buckets/blobs.ts";
import type { Removal } from "../buckets/buckets.ts";
import { type Bucket, bucketNameRule, defaultRegion, isBucketName } from "../buckets/records.ts";
import {
  type BucketCall,
  type Depot,
  isoDate,
  mayRead,
  ownerOf,
  type S3Call,
  type S3Reply,
  type S3User,
} from "../call.ts";
import { Fault, fault } from "../fault.ts";
import { textIn } from "../request/body.ts";
import { elementsIn, rootOf, textOf, type Xml, xmlDocument } from "../xml/xml.ts";
import { removeOne } from "./object-operations.ts";

const bucketsPerUser = 500;

/** The first settings of a bucket with object lock. */
const lockSettings = {
  versioning: xmlDocument(["VersioningConfiguration", [["Status", "Enabled"]]]),
  "object-lock": xmlDocument(["ObjectLockConfiguration", [["ObjectLockEnabled", "Enabled"]]]),
};

/** Operations on buckets as such. */
export function bucketOperations(depot: Depot) {
  const { buckets } = depot.buckets;
  return {
    list({ user }: S3Call): S3Reply {
      const own = [...buckets.values()].filter((bucket) => mayRead(user, bucket));
      const listed = own
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map(
          ({ name, createdAt }): Xml => [
            "Bucket",
            [
              ["Name", name],
              ["CreationDate", isoDate(createdAt)],
            ],
          ],
        );
      return { status: 200, xml: ["ListAllMyBucketsResult", [ownerOf(user), ["Buckets", listed]]] };
    },

    async create({ request, signed, user, header }: S3Call, name: string): Promise<S3Reply> {
      const document = await textIn(request, signed);
      const region =
        document.trim() === ""
          ? undefined
          : textOf(rootOf(document, "CreateBucketConfiguration"), "LocationConstraint");
      const locked = header("x-amz-bucket-object-lock-enabled") === "true";
      await depot.write(() => {
        const bucket = makeBucket(depot, name, user, region);
        if (locked) buckets.put(name, { ...bucket, settings: lockSettings });
      });
      return { status: 200, headers: { Location: `/${name}` } };
    },

    head: ({ bucket }: BucketCall): S3Reply => ({ status: 200, headers: { "x-amz-bucket-region": bucket.region } }),

    location: ({ bucket }: BucketCall): S3Reply => ({ status: 200, xml: ["LocationConstraint", bucket.region] }),

    async remove({ bucket }: BucketCall): Promise<S3Reply> {
      const orphans: BlobRef[] = [];
      await depot.write(() => {
        if (depot.buckets.allKeys(bucket.name).length > 0) {
          throw fault("BucketNotEmpty", "The bucket is not empty: delete its objects first", {
            BucketName: bucket.name,
          });
        }
        for (const { id } of [...depot.buckets.uploads.values()].filter((each) => each.bucket === bucket.name)) {
          orphans.push(...depot.buckets.parts(id).map(({ blob }) => blob));
          depot.buckets.endUpload(id);
        }
        buckets.delete(bucket.name);
      });
      await depot.blobs.remove(orphans);
      return { status: 204 };
    },

    removeObjects: (call: BucketCall) => removeObjects(depot, call),
  };
}

/** Deletes up to a thousand objects. The refusal of one does not stop the others. */
async function removeObjects(depot: Depot, call: BucketCall): Promise<S3Reply> {
  const { request, signed } = call;
  const document = rootOf(await textIn(request, signed), "Delete");
  const asked = elementsIn(document, "Object").map((each) => ({
    key: textOf(each, "Key") ?? "",
    versionId: textOf(each, "VersionId") || undefined,
  }));
  if (asked.length === 0 || asked.length > 1000) {
    throw fault("MalformedXML", "Name from 1 to 1000 objects to delete");
  }
  const removed = await depot.write(() =>
    asked.map(({ key, versionId }) => ({
      key,
      asked: versionId,
      ...tried(() => removeOne(depot, call, key, versionId)),
    })),
  );
  await depot.blobs.remove(removed.flatMap(({ unused }) => unused));
  const quiet = textOf(document, "Quiet") === "true";
  const results = removed.flatMap((each): Xml[] => {
    const about: Xml[] = [["Key", each.key], ...(each.asked === undefined ? [] : [["VersionId", each.asked] as const])];
    if (each.fault !== undefined)
      return [["Error", [...about, ["Code", each.fault.code], ["Message", each.fault.message]]]];
    const marks: Xml[] = each.marker
      ? [
          ["DeleteMarker", true],
          ["DeleteMarkerVersionId", each.versionId ?? ""],
        ]
      : [];
    return quiet ? [] : [["Deleted", [...about, ...marks]]];
  });
  return { status: 200, xml: ["DeleteResult", results] };
}

/** The result of a deletion, or the refusal. */
function tried(work: () => Removal): Removal & { fault?: Fault } {
  try {
    return work();
  } catch (error) {
    if (error instanceof Fault) return { unused: [], fault: error };
    throw error;
  }
}

/** Makes a bucket for a user, inside a transaction. */
export function makeBucket(
  { buckets, now }: Depot,
  name: string,
  { id: userId, contractNumber }: Pick<S3User, "id" | "contractNumber">,
  region = defaultRegion,
): Bucket {
  if (!isBucketName(name)) {
    throw fault("InvalidBucketName", `The name cannot be a bucket's: ${bucketNameRule}`, { BucketName: name });
  }
  const taken = buckets.buckets.get(name);
  if (taken !== undefined) {
    throw taken.userId === userId
      ? fault("BucketAlreadyOwnedByYou", "The bucket exists already and is yours", { BucketName: name })
      : fault("BucketAlreadyExists", "The bucket name is taken: choose another one", { BucketName: name });
  }
  const own = [...buckets.buckets.values()].filter((each) => each.userId === userId);
  if (own.length >= bucketsPerUser) {
    throw fault("TooManyBuckets", `A user can have at most ${bucketsPerUser} buckets; delete some first`);
  }
  const bucket: Bucket = { name, userId, contractNumber, region, createdAt: now(), settings: {} };
  buckets.buckets.put(name, bucket);
  return bucket;
}
