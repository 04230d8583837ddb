import { createHash, randomUUID } from "node:crypto";
import { noSuchUpload } from "../buckets/buckets.ts";
import type { Part, StoredObject, Upload } from "../buckets/records.ts";
import { type BucketCall, type Depot, isoDate, type ObjectCall, type S3Reply } from "../call.ts";
import { fault } from "../fault.ts";
import { bodyOf, textIn } from "../request/body.ts";
import { checksumHeader } from "../request/checksums.ts";
import { elementsIn, rootOf, textOf, type Xml } from "../xml/xml.ts";
import { checkWrite } from "./conditions.ts";
import { keptHeaders } from "./object-headers.ts";
import { checkKey, copied, orRemove } from "./object-operations.ts";
import { initialSettings } from "./object-settings.ts";
import { sourceRange } from "./range.ts";

const smallestPart = 5 * 1024 * 1024;
const mostParts = 10_000;

/** Multipart uploads: the parts lie on disk as they came, and the object is made of them without being copied. */
export function uploadOperations(depot: Depot) {
  const { buckets, blobs } = depot;

  function find({ bucket, key, query }: ObjectCall): Upload {
    const upload = buckets.uploads.get(query("uploadId") ?? "");
    if (upload?.bucket !== bucket.name || upload.key !== key) throw noSuchUpload();
    return upload;
  }

  async function keep(part: Part): Promise<void> {
    const before = await orRemove(blobs, [part.blob], () => depot.write(() => buckets.putPart(part)));
    if (before !== undefined) await blobs.remove([before.blob]);
  }

  return {
    async start(call: ObjectCall): Promise<S3Reply> {
      checkKey(call.key);
      const upload: Upload = {
        id: randomUUID(),
        bucket: call.bucket.name,
        key: call.key,
        startedAt: depot.now(),
        headers: keptHeaders(call),
        settings: initialSettings(call, call.bucket, depot.now()),
      };
      await depot.write(() => buckets.uploads.put(upload.id, upload));
      return { status: 200, xml: ["InitiateMultipartUploadResult", about(upload)] };
    },

    async putPart(call: ObjectCall): Promise<S3Reply> {
      const { id: uploadId } = find(call);
      const number = partNumberIn(call);
      const body = bodyOf(call.request, call.signed);
      const { id, size, md5 } = await blobs.write(body.content);
      await keep({ uploadId, number, blob: { id, size }, etag: md5, modifiedAt: depot.now() });
      const checksum = body.checksum();
      return {
        status: 200,
        headers: { etag: `"${md5}"`, ...(checksum && { [checksumHeader(checksum.name)]: checksum.value }) },
      };
    },

    /** A part made of an object the caller may read, or of a range of it. */
    async copyPart(call: ObjectCall, source: StoredObject): Promise<S3Reply> {
      const { id: uploadId } = find(call);
      const number = partNumberIn(call);
      const { first, last } = sourceRange(call.header("x-amz-copy-source-range"), source.size);
      const { id, size, md5 } = await blobs.write(blobs.read(source.blobs, first, last));
      const part = { uploadId, number, blob: { id, size }, etag: md5, modifiedAt: depot.now() };
      await keep(part);
      return { status: 200, xml: ["CopyPartResult", copied(part)] };
    },

    complete: (call: ObjectCall) => completed(depot, call, () => find(call)),

    async abort(call: ObjectCall): Promise<S3Reply> {
      const { id } = find(call);
      const parts = buckets.parts(id);
      await depot.write(() => buckets.endUpload(id));
      await blobs.remove(parts.map(({ blob }) => blob));
      return { status: 204 };
    },

    listParts(call: ObjectCall): S3Reply {
      const upload = find(call);
      const parts = buckets.parts(upload.id).map(shownPart);
      return { status: 200, xml: ["ListPartsResult", [...about(upload), ["IsTruncated", false], ...parts]] };
    },

    list({ bucket }: BucketCall): S3Reply {
      const { name } = bucket;
      const listed = [...buckets.uploads.values()].filter((each) => each.bucket === name).map(shownUpload);
      return {
        status: 200,
        xml: ["ListMultipartUploadsResult", [["Bucket", name], ["IsTruncated", false], ...listed]],
      };
    },
  };
}

const about = ({ bucket, key, id }: Upload): Xml[] => [
  ["Bucket", bucket],
  ["Key", key],
  ["UploadId", id],
];

const shownPart = ({ number, etag, blob, modifiedAt }: Part): Xml => [
  "Part",
  [
    ["PartNumber", number],
    ["LastModified", isoDate(modifiedAt)],
    ["ETag", `"${etag}"`],
    ["Size", blob.size],
  ],
];

const shownUpload = (upload: Upload): Xml => [
  "Upload",
  [...about(upload).slice(1), ["Initiated", isoDate(upload.startedAt)], ["StorageClass", "STANDARD"]],
];

/** Makes the object of its parts. The upload is found again once the body is read: it may have ended meanwhile. */
async function completed(
  { buckets, blobs, now, write }: Depot,
  call: ObjectCall,
  find: () => Upload,
): Promise<S3Reply> {
  const upload = find();
  const asked = partsIn(await textIn(call.request, call.signed));
  const { object, unused } = await write(() => {
    const all = buckets.parts(find().id);
    const chosen = chosenParts(all, asked);
    checkWrite(call, buckets.object(upload.bucket, upload.key));
    const { object, unused } = buckets.put(assembled(upload, chosen, now()));
    buckets.endUpload(upload.id);
    const left = all.filter((part) => !chosen.includes(part)).map(({ blob }) => blob);
    return { object, unused: [...left, ...unused] };
  });
  await blobs.remove(unused);
  const location = `http://${call.header("host")}/${upload.bucket}/${upload.key}`;
  const answer: Xml[] = [
    ["Location", location],
    ["Bucket", upload.bucket],
    ["Key", upload.key],
    ["ETag", `"${object.etag}"`],
  ];
  const { versionId } = object;
  const headers = versionId === undefined ? {} : { "x-amz-version-id": versionId };
  return { status: 200, headers, xml: ["CompleteMultipartUploadResult", answer] };
}

function partNumberIn({ query }: ObjectCall): number {
  const number = Number(query("partNumber"));
  if (Number.isInteger(number) && number >= 1 && number <= mostParts) return number;
  throw fault("InvalidArgument", `partNumber must be a whole number from 1 to ${mostParts}`);
}

interface AskedPart {
  number: number;
  etag: string;
}

function partsIn(document: string): AskedPart[] {
  const parts = elementsIn(rootOf(document, "CompleteMultipartUpload"), "Part").map((part) => ({
    number: Number(textOf(part, "PartNumber")),
    etag: (textOf(part, "ETag") ?? "").replaceAll('"', ""),
  }));
  if (parts.length === 0) throw fault("MalformedXML", "Name at least one part");
  return parts;
}

function chosenParts(all: Part[], asked: AskedPart[]): Part[] {
  if (asked.some(({ number }, index) => number <= (asked[index - 1]?.number ?? 0))) {
    throw fault("InvalidPartOrder", "The parts have to be named in ascending order");
  }
  const byNumber = new Map(all.map((part) => [part.number, part]));
  return asked.map(({ number, etag }, index) => {
    const part = byNumber.get(number);
    if (part === undefined || part.etag !== etag) {
      throw fault("InvalidPart", `The part ${number} was not uploaded, or its ETag is another one`);
    }
    if (part.blob.size < smallestPart && index < asked.length - 1) {
      throw fault("EntityTooSmall", `The part ${number} is smaller than ${smallestPart} bytes and not the last one`);
    }
    return part;
  });
}

function assembled({ bucket, key, headers, settings }: Upload, parts: Part[], now: number): StoredObject {
  const digests = createHash("md5");
  for (const { etag } of parts) digests.update(Buffer.from(etag, "hex"));
  return {
    bucket,
    key,
    blobs: parts.map(({ blob }) => blob),
    size: parts.reduce((sum, { blob }) => sum + blob.size, 0),
    etag: `${digests.digest("hex")}-${parts.length}`,
    modifiedAt: now,
    headers,
    settings,
  };
}
