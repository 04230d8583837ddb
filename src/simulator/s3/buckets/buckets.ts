import type { Documents, Table } from "../../store/documents.ts";
import { fault } from "../fault.ts";
import type { BlobRef } from "./blobs.ts";
import {
  type Bucket,
  bucketSchema,
  objectSchema,
  type Part,
  partSchema,
  type StoredObject,
  type Upload,
  uploadSchema,
  type Version,
} from "./records.ts";
import { byBytes, createSortedKeys, type SortedKeys } from "./sorted-keys.ts";
import { createVersions, statusOf, versionIdOf } from "./versions.ts";

/** The rows of the storage: everything but the content. Kept with all other state of the platform. */
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
  /** Stores an object in a bucket that still exists; gives it, and the content that is not needed any more. */
  put(object: StoredObject): { object: StoredObject; unused: readonly BlobRef[] };
  /** Writes an object that is there, also an older version, with other settings. */
  update(object: StoredObject): void;
  /** Removes an object, or marks it as deleted where versions are kept. */
  remove(bucket: string, key: string, now: number): Removal;
  /** Removes one version for good; what came before it takes its place. */
  removeVersion(bucket: string, key: string, versionId: string): Removal;
  keys(bucket: string): readonly string[];
  /** Also those of which only older versions are left. */
  allKeys(bucket: string): readonly string[];
  /** All versions of a key, the newest first. */
  versions(bucket: string, key: string): Omit<Version, "n">[];
  /** Content that objects and uploads are made of. */
  blobs(): Iterable<BlobRef>;
}

/** The result of a deletion. */
export interface Removal {
  versionId?: string;
  /** Whether that version is, or was, a marker. */
  marker?: boolean;
  unused: readonly BlobRef[];
}

export function createBuckets(documents: Documents): Buckets {
  const buckets = documents.table("s3-buckets", bucketSchema);
  const objects = documents.table("s3-objects", objectSchema);
  const { blobs: partBlobs, ...uploads } = createUploads(documents);
  const versions = createVersions(documents);
  const presentKeys = watchedKeys(objects);

  return {
    buckets,
    ...uploads,
    object: (bucket, key) => objects.get(rowOf(bucket, key)),
    put(given) {
      const row = rowOf(given.bucket, given.key);
      const before = objects.get(row);
      const bucket = buckets.get(given.bucket);
      // It may have been deleted while the content was on its way.
      if (bucket === undefined) throw noSuchBucket(given.bucket);
      const isVersioned = statusOf(bucket) === "Enabled";
      const object = isVersioned ? { ...given, versionId: versions.newVersionId() } : given;
      const unused = shelve(versions, before, isVersioned);
      const older = isVersioned ? [] : versions.dropNull(given.bucket, given.key);
      objects.put(row, object);
      return { object, unused: [...unused, ...older] };
    },
    update(object) {
      const kept = versions.of(object.bucket, object.key).find(({ versionId }) => versionId === versionIdOf(object));
      if (kept === undefined) objects.put(rowOf(object.bucket, object.key), object);
      else versions.put({ ...kept, object });
    },
    remove(name, key, now) {
      const row = rowOf(name, key);
      const before = objects.get(row);
      const bucket = buckets.get(name);
      const status = bucket && statusOf(bucket);
      const unused = shelve(versions, before, status === "Enabled");
      if (before !== undefined) objects.delete(row);
      if (status === undefined) return { unused };
      const older = status === "Enabled" ? [] : versions.dropNull(name, key);
      const versionId = status === "Enabled" ? versions.newVersionId() : "null";
      versions.mark(name, key, versionId, now);
      return { versionId, marker: true, unused: [...unused, ...older] };
    },
    removeVersion(bucket, key, versionId) {
      const row = rowOf(bucket, key);
      const present = objects.get(row);
      const isPresent = present !== undefined && versionIdOf(present) === versionId;
      const kept = isPresent ? undefined : versions.of(bucket, key).find((each) => each.versionId === versionId);
      if (isPresent) objects.delete(row);
      if (kept !== undefined) versions.drop(kept);
      const [next] = versions.of(bucket, key);
      if (objects.get(row) === undefined && next?.object) {
        versions.drop(next);
        objects.put(row, next.object);
      }
      const marker = kept !== undefined && kept.object === null;
      return { versionId, marker, unused: (isPresent ? present.blobs : kept?.object?.blobs) ?? [] };
    },
    keys: presentKeys,
    allKeys(bucket) {
      const older = versions.keys(bucket);
      return older.length === 0 ? presentKeys(bucket) : [...new Set([...presentKeys(bucket), ...older])].sort(byBytes);
    },
    versions(bucket, key) {
      const object = objects.get(rowOf(bucket, key));
      const present = object === undefined ? [] : [{ ...object, object, versionId: versionIdOf(object) }];
      return [...present, ...versions.of(bucket, key)];
    },
    *blobs() {
      for (const { blobs } of objects.values()) yield* blobs;
      yield* partBlobs();
      yield* versions.blobs();
    },
  };
}

const rowOf = (bucket: string, key: string | number) => `${bucket}/${key}`;

/** Multipart uploads that have not ended, with their parts. */
function createUploads(documents: Documents): Pick<Buckets, "uploads" | "parts" | "putPart" | "endUpload" | "blobs"> {
  const uploads = documents.table("s3-uploads", uploadSchema);
  const parts = documents.table("s3-parts", partSchema);
  const partsOf = (uploadId: string) =>
    [...parts.values()].filter((part) => part.uploadId === uploadId).sort((a, b) => a.number - b.number);
  return {
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
    blobs: () => Array.from(parts.values(), ({ blob }) => blob),
  };
}

/** Archives a replaced object as an older version, or gives the content that is not needed any more. */
function shelve(
  versions: ReturnType<typeof createVersions>,
  before: StoredObject | undefined,
  isVersioned: boolean,
): readonly BlobRef[] {
  if (before === undefined) return [];
  if (!isVersioned && before.versionId === undefined) return before.blobs;
  versions.archive(before);
  return [];
}

/** The keys of the objects of each bucket, in order. */
function watchedKeys(objects: Table<StoredObject>): (bucket: string) => readonly string[] {
  const keysOf = new Map<string, SortedKeys>();
  objects.watch((before, after) => {
    if (after === undefined) {
      if (before !== undefined) keysOf.get(before.bucket)?.remove(before.key);
      return;
    }
    const keys = keysOf.get(after.bucket) ?? createSortedKeys();
    keysOf.set(after.bucket, keys);
    keys.add(after.key);
  });
  return (bucket) => keysOf.get(bucket)?.all ?? [];
}

export const noSuchBucket = (name: string) => fault("NoSuchBucket", "The bucket does not exist", { BucketName: name });

export const noSuchUpload = () =>
  fault("NoSuchUpload", "The upload does not exist; it may have been completed or aborted");
