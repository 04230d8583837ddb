import type { BlobRef, Blobs } from "../buckets/blobs.ts";
import type { Removal } from "../buckets/buckets.ts";
import type { Bucket, StoredObject } from "../buckets/records.ts";
import { type BucketCall, type Depot, isoDate, type ObjectCall, type S3Reply } from "../call.ts";
import { fault } from "../fault.ts";
import { bodyOf } from "../request/body.ts";
import { checksumHeader } from "../request/checksums.ts";
import type { Xml } from "../xml/xml.ts";
import { checkWrite, isUnchanged } from "./conditions.ts";
import { keptHeaders, shownHeaders } from "./object-headers.ts";
import { partRange, partsHeader } from "./object-parts.ts";
import { checkUnlocked, initialSettings, settingHeaders } from "./object-settings.ts";
import { rangeIn } from "./range.ts";

const longestKey = 1024;

/** Operations on single objects. */
export function objectOperations(depot: Depot) {
  const { buckets, blobs } = depot;

  function find({ bucket, key, query }: ObjectCall): StoredObject {
    const asked = query("versionId");
    const object = asked === undefined ? buckets.object(bucket.name, key) : versionOf(depot, bucket.name, key, asked);
    if (object === null) throw fault("MethodNotAllowed", "The version is the marker of a deletion");
    if (object === undefined && asked !== undefined) throw noSuchVersion(key, asked);
    if (object === undefined) throw fault("NoSuchKey", "The object does not exist", { Key: key });
    return object;
  }

  return {
    find,
    put: (call: ObjectCall) => putObject(depot, call),

    /** GET and HEAD. */
    read(call: ObjectCall): S3Reply {
      const object = find(call);
      const range = partRange(call, object) ?? rangeIn(call.header("range"), object.size);
      const headers = {
        ...shownHeaders(call, object, range === undefined),
        ...settingHeaders(object),
        ...partsHeader(call, object),
      };
      if (isUnchanged(call, object)) return { status: 304, headers };
      const { first, last } = range ?? { first: 0, last: object.size - 1 };
      const shown = {
        ...headers,
        "content-length": last - first + 1,
        ...(range && { "content-range": `bytes ${first}-${last}/${object.size}` }),
      };
      const status = range === undefined ? 200 : 206;
      if (call.request.method === "HEAD") return { status, headers: shown };
      return { status, headers: shown, stream: blobs.read(object.blobs, first, last) };
    },

    async remove(call: ObjectCall): Promise<S3Reply> {
      const removal = await depot.write(() => removeOne(depot, call, call.key, call.query("versionId")));
      await blobs.remove(removal.unused);
      const headers = { ...versionHeader(removal), ...(removal.marker && { "x-amz-delete-marker": "true" }) };
      return { status: 204, headers };
    },

    /** A copy within the storage, of an object the caller may read. */
    async copy(call: ObjectCall, source: StoredObject): Promise<S3Reply> {
      checkKey(call.key);
      const { id, size, md5 } = await blobs.write(blobs.read(source.blobs, 0, source.size - 1));
      const replaced = call.header("x-amz-metadata-directive")?.toUpperCase() === "REPLACE";
      const { versionId: _, ...content } = source;
      const object: StoredObject = {
        ...content,
        bucket: call.bucket.name,
        key: call.key,
        blobs: [{ id, size }],
        etag: md5,
        modifiedAt: depot.now(),
        headers: replaced ? keptHeaders(call) : source.headers,
        settings: { ...tagsOf(source), ...initialSettings(call, call.bucket, depot.now()) },
      };
      const stored = await replace(depot, call, object);
      return {
        status: 200,
        headers: versionHeader(stored),
        xml: ["CopyObjectResult", copied(object)],
      };
    },
  };
}

const replace = (depot: Depot, call: ObjectCall, object: StoredObject) =>
  storeObject(depot, object, (before) => checkWrite(call, before));

async function putObject(depot: Depot, call: ObjectCall): Promise<S3Reply> {
  checkKey(call.key);
  const headers = { ...keptHeaders(call), ...encryptionOf(call.bucket) };
  const settings = initialSettings(call, call.bucket, depot.now());
  const body = bodyOf(call.request, call.signed);
  const { id, size, md5 } = await depot.blobs.write(body.content);
  const checksum = body.checksum();
  const object: StoredObject = {
    bucket: call.bucket.name,
    key: call.key,
    blobs: [{ id, size }],
    size,
    etag: md5,
    modifiedAt: depot.now(),
    headers,
    settings,
    ...(checksum && { checksum }),
  };
  const stored = await replace(depot, call, object);
  return {
    status: 200,
    headers: {
      etag: `"${md5}"`,
      ...versionHeader(stored),
      ...encryptionOf(call.bucket),
      ...(checksum && { [checksumHeader(checksum.name)]: checksum.value }),
    },
  };
}

/** The elements that the answer to a copy has. */
export const copied = ({ modifiedAt, etag }: Pick<StoredObject, "modifiedAt" | "etag">): Xml[] => [
  ["LastModified", isoDate(modifiedAt)],
  ["ETag", `"${etag}"`],
];

export function checkKey(key: string): void {
  if (Buffer.byteLength(key) > longestKey) throw fault("KeyTooLongError", `A key has at most ${longestKey} bytes`);
}

/**
 * Stores an object whose content is on disk. Removes the content that it replaces, or its own if it cannot be stored.
 */
export async function storeObject(
  { buckets, blobs, write }: Depot,
  object: StoredObject,
  check: (before: StoredObject | undefined) => void,
): Promise<StoredObject> {
  const { object: stored, unused } = await orRemove(blobs, object.blobs, () =>
    write(() => {
      check(buckets.object(object.bucket, object.key));
      return buckets.put(object);
    }),
  );
  await blobs.remove(unused);
  return stored;
}

/** A version of a key; null: the marker of a deletion. */
const versionOf = ({ buckets }: Depot, bucket: string, key: string, versionId: string) =>
  buckets.versions(bucket, key).find((each) => each.versionId === versionId)?.object;

const noSuchVersion = (key: string, versionId: string) =>
  fault("NoSuchVersion", "The version does not exist", { Key: key, VersionId: versionId });

const versionHeader = ({ versionId }: { versionId?: string | undefined }): Record<string, string> =>
  versionId === undefined ? {} : { "x-amz-version-id": versionId };

const encryptionOf = ({ settings }: Bucket): Record<string, string> =>
  settings.encryption === undefined ? {} : { "x-amz-server-side-encryption": "AES256" };

const tagsOf = ({ settings }: StoredObject): Record<string, string> =>
  settings?.tagging === undefined ? {} : { tagging: settings.tagging };

/** Deletes a key, or one version of it for good. Inside a transaction. */
export function removeOne(depot: Depot, call: BucketCall, key: string, versionId: string | undefined): Removal {
  const { buckets, now } = depot;
  const { name } = call.bucket;
  if (versionId === undefined) return buckets.remove(name, key, now());
  const object = versionOf(depot, name, key, versionId);
  if (object) checkUnlocked(call, object, now());
  return buckets.removeVersion(name, key, versionId);
}

/** Removes content when the work that should use it fails. */
export async function orRemove<R>(blobs: Blobs, content: readonly BlobRef[], work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    await blobs.remove(content);
    throw error;
  }
}
