import type { BlobRef, Blobs } from "./blobs.ts";
import { bodyOf } from "./body.ts";
import type { StoredObject } from "./buckets.ts";
import { type Depot, isoDate, type ObjectCall, type S3Reply } from "./call.ts";
import { checksumHeader } from "./checksums.ts";
import { checkWrite, isUnchanged } from "./conditions.ts";
import { fault } from "./fault.ts";
import { keptHeaders, shownHeaders } from "./object-headers.ts";
import { rangeIn } from "./range.ts";

const longestKey = 1024;

/** Operations on single objects. */
export function objectOperations(depot: Depot) {
  const { buckets, blobs } = depot;

  function find({ bucket, key }: ObjectCall): StoredObject {
    const object = buckets.object(bucket.name, key);
    if (object === undefined) throw fault("NoSuchKey", "The object does not exist", { Key: key });
    return object;
  }

  const replace = (call: ObjectCall, object: StoredObject) =>
    storeObject(depot, object, (before) => checkWrite(call, before));

  return {
    find,
    async put(call: ObjectCall): Promise<S3Reply> {
      checkKey(call.key);
      const headers = keptHeaders(call);
      const body = bodyOf(call.request, call.signed);
      const { id, size, md5 } = await blobs.write(body.content);
      const checksum = body.checksum();
      const object: StoredObject = {
        bucket: call.bucket.name,
        key: call.key,
        blobs: [{ id, size }],
        size,
        etag: md5,
        modifiedAt: depot.now(),
        headers,
        ...(checksum && { checksum }),
      };
      await replace(call, object);
      return {
        status: 200,
        headers: { etag: `"${md5}"`, ...(checksum && { [checksumHeader(checksum.name)]: checksum.value }) },
      };
    },

    /** GET and HEAD. */
    read(call: ObjectCall): S3Reply {
      const object = find(call);
      const range = rangeIn(call.header("range"), object.size);
      const headers = shownHeaders(call, object, range === undefined);
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

    async remove({ bucket, key }: ObjectCall): Promise<S3Reply> {
      const before = await depot.write(() => buckets.remove(bucket.name, key));
      await blobs.remove(before?.blobs ?? []);
      return { status: 204 };
    },

    /** A copy within the storage, of an object the caller may read. */
    async copy(call: ObjectCall, source: StoredObject): Promise<S3Reply> {
      checkKey(call.key);
      const { id, size } = await blobs.write(blobs.read(source.blobs, 0, source.size - 1));
      const replaced = call.header("x-amz-metadata-directive")?.toUpperCase() === "REPLACE";
      const object: StoredObject = {
        ...source,
        bucket: call.bucket.name,
        key: call.key,
        blobs: [{ id, size }],
        modifiedAt: depot.now(),
        headers: replaced ? keptHeaders(call) : source.headers,
      };
      await replace(call, object);
      return {
        status: 200,
        xml: [
          "CopyObjectResult",
          [
            ["LastModified", isoDate(object.modifiedAt)],
            ["ETag", `"${object.etag}"`],
          ],
        ],
      };
    },
  };
}

export function checkKey(key: string): void {
  if (Buffer.byteLength(key) > longestKey) throw fault("KeyTooLongError", `A key has at most ${longestKey} bytes`);
}

/** Makes an object of content that is on disk already, and lets go of what it replaces, or of the content if it cannot. */
export async function storeObject(
  { buckets, blobs, write }: Depot,
  object: StoredObject,
  check: (before: StoredObject | undefined) => void,
): Promise<void> {
  const before = await orRemove(blobs, object.blobs, () =>
    write(() => {
      check(buckets.object(object.bucket, object.key));
      return buckets.put(object);
    }),
  );
  await blobs.remove(before?.blobs ?? []);
}

/** Removes content again when what was to name it did not come to be. */
export async function orRemove<R>(blobs: Blobs, content: readonly BlobRef[], work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    await blobs.remove(content);
    throw error;
  }
}
