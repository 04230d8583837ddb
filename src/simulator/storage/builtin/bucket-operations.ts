import { bucketNameRule, isBucketName } from "../bucket-name.ts";
import { defaultRegion } from "../region.ts";
import type { BlobRef } from "./blobs.ts";
import { textIn } from "./body.ts";
import type { Bucket } from "./buckets.ts";
import {
  type BucketCall,
  type Depot,
  isoDate,
  mayRead,
  ownerOf,
  type S3Call,
  type S3Reply,
  type S3User,
} from "./call.ts";
import { fault } from "./fault.ts";
import { elementsIn, rootOf, textOf, type Xml } from "./xml.ts";

const bucketsPerUser = 500;

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

    async create({ request, signed, user }: S3Call, name: string): Promise<S3Reply> {
      const document = await textIn(request, signed);
      const region =
        document.trim() === ""
          ? undefined
          : textOf(rootOf(document, "CreateBucketConfiguration"), "LocationConstraint");
      await depot.write(() => makeBucket(depot, name, user, region));
      return { status: 200, headers: { Location: `/${name}` } };
    },

    head: ({ bucket }: BucketCall): S3Reply => ({ status: 200, headers: { "x-amz-bucket-region": bucket.region } }),

    location: ({ bucket }: BucketCall): S3Reply => ({ status: 200, xml: ["LocationConstraint", bucket.region] }),

    async remove({ bucket }: BucketCall): Promise<S3Reply> {
      const orphans: BlobRef[] = [];
      await depot.write(() => {
        if (depot.buckets.keys(bucket.name).length > 0) {
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

    async removeObjects({ request, signed, bucket }: BucketCall): Promise<S3Reply> {
      const document = rootOf(await textIn(request, signed), "Delete");
      const keys = elementsIn(document, "Object").map((each) => textOf(each, "Key"));
      if (keys.length === 0 || keys.length > 1000) {
        throw fault("MalformedXML", "Name from 1 to 1000 objects to delete");
      }
      const removed = await depot.write(() =>
        keys.map((key = "") => ({ key, blobs: depot.buckets.remove(bucket.name, key)?.blobs ?? [] })),
      );
      await depot.blobs.remove(removed.flatMap(({ blobs }) => blobs));
      const told = textOf(document, "Quiet") === "true" ? [] : removed;
      return { status: 200, xml: ["DeleteResult", told.map(({ key }): Xml => ["Deleted", [["Key", key]]])] };
    },
  };
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
  const bucket: Bucket = { name, userId, contractNumber, region, createdAt: now() };
  buckets.buckets.put(name, bucket);
  return bucket;
}
