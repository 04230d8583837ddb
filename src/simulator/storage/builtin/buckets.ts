import { z } from "zod";
import type { Documents, Table } from "../../store/documents.ts";
import { type BlobRef, blobSchema } from "./blobs.ts";
import { fault } from "./fault.ts";
import { createSortedKeys, type SortedKeys } from "./sorted-keys.ts";

const bucketSchema = z.object({
  name: z.string(),
  userId: z.string(),
  /** 0: from before there were further contracts. */
  contractNumber: z.number().default(0),
  region: z.string(),
  createdAt: z.number(),
});
export type Bucket = Readonly<z.infer<typeof bucketSchema>>;

const headersSchema = z.record(z.string(), z.string());

const objectSchema = z.object({
  bucket: z.string(),
  key: z.string(),
  /** In a row: one, or the parts of a multipart upload. */
  blobs: z.array(blobSchema).readonly(),
  size: z.int(),
  etag: z.string(),
  modifiedAt: z.number(),
  /** Given back with the content: its type, encoding and so on, and x-amz-meta-*. */
  headers: headersSchema,
  checksum: z.object({ name: z.string(), value: z.string() }).optional(),
});
export type StoredObject = Readonly<z.infer<typeof objectSchema>>;

const uploadSchema = z.object({
  id: z.string(),
  bucket: z.string(),
  key: z.string(),
  startedAt: z.number(),
  headers: headersSchema,
});
export type Upload = Readonly<z.infer<typeof uploadSchema>>;

const partSchema = z.object({
  uploadId: z.string(),
  number: z.int(),
  blob: blobSchema,
  etag: z.string(),
  modifiedAt: z.number(),
});
export type Part = Readonly<z.infer<typeof partSchema>>;

/** What the storage holds, besides the content itself. Kept with all other state of the platform. */
export interface Buckets {
  readonly buckets: Table<Bucket>;
  readonly uploads: Table<Upload>;
  /** The parts of an upload so far, in order of their numbers. */
  parts(uploadId: string): Part[];
  /** Keeps a part of an upload that is still open; gives the one it replaces. */
  putPart(part: Part): Part | undefined;
  /** Forgets an upload with all its parts. */
  endUpload(uploadId: string): void;
  object(bucket: string, key: string): StoredObject | undefined;
  /** Stores an object in a bucket that still exists; gives the one it replaces. */
  put(object: StoredObject): StoredObject | undefined;
  /** Removes an object; gives it. */
  remove(bucket: string, key: string): StoredObject | undefined;
  keys(bucket: string): readonly string[];
  /** Content that objects and uploads are made of. */
  blobs(): Iterable<BlobRef>;
}

export function createBuckets(documents: Documents): Buckets {
  const buckets = documents.table("s3-buckets", bucketSchema);
  const objects = documents.table("s3-objects", objectSchema);
  const uploads = documents.table("s3-uploads", uploadSchema);
  const parts = documents.table("s3-parts", partSchema);
  const keysOf = new Map<string, SortedKeys>();
  objects.watch((before, after) => {
    if (after === undefined) {
      if (before !== undefined) keysOf.get(before.bucket)?.remove(before.key);
      return;
    }
    let keys = keysOf.get(after.bucket);
    if (keys === undefined) {
      keys = createSortedKeys();
      keysOf.set(after.bucket, keys);
    }
    keys.add(after.key);
  });
  const rowOf = (bucket: string, key: string | number) => `${bucket}/${key}`;
  const partsOf = (uploadId: string) =>
    [...parts.values()].filter((part) => part.uploadId === uploadId).sort((a, b) => a.number - b.number);

  return {
    buckets,
    uploads,
    parts: partsOf,
    putPart(part) {
      const row = rowOf(part.uploadId, part.number);
      const before = parts.get(row);
      if (uploads.get(part.uploadId) === undefined) throw noSuchUpload();
      parts.put(row, part);
      return before;
    },
    endUpload(uploadId) {
      for (const { number } of partsOf(uploadId)) parts.delete(rowOf(uploadId, number));
      uploads.delete(uploadId);
    },
    object: (bucket, key) => objects.get(rowOf(bucket, key)),
    put(object) {
      const row = rowOf(object.bucket, object.key);
      const before = objects.get(row);
      // It may have been deleted while the content was on its way.
      if (buckets.get(object.bucket) === undefined) throw noSuchBucket(object.bucket);
      objects.put(row, object);
      return before;
    },
    remove(bucket, key) {
      const row = rowOf(bucket, key);
      const before = objects.get(row);
      if (before !== undefined) objects.delete(row);
      return before;
    },
    keys: (bucket) => keysOf.get(bucket)?.all ?? [],
    *blobs() {
      for (const { blobs } of objects.values()) yield* blobs;
      for (const { blob } of parts.values()) yield blob;
    },
  };
}

export const noSuchBucket = (name: string) => fault("NoSuchBucket", "The bucket does not exist", { BucketName: name });

export const noSuchUpload = () =>
  fault("NoSuchUpload", "The upload does not exist; it may have been completed or aborted");
