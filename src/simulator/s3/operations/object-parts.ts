import type { BlobRef } from "../buckets/blobs.ts";
import type { StoredObject } from "../buckets/records.ts";
import { httpDate, type ObjectCall, type S3Reply } from "../call.ts";
import { fault } from "../fault.ts";
import type { Xml } from "../xml/xml.ts";
import type { Range } from "./range.ts";

/** The parts of an object that was uploaded in parts. */
const partsOf = ({ etag, blobs }: StoredObject): readonly BlobRef[] | undefined =>
  etag.endsWith(`-${blobs.length}`) ? blobs : undefined;

/** The bytes of the part that a read asks for; an object that was not uploaded in parts is its own first. */
export function partRange({ query, header }: ObjectCall, object: StoredObject): Range | undefined {
  const asked = query("partNumber");
  if (asked === undefined) return undefined;
  if (header("range") !== undefined) throw fault("InvalidRequest", "Ask for a range or for a part, not for both");
  const parts = partsOf(object) ?? [object];
  const part = /^\d+$/.test(asked) ? parts[Number(asked) - 1] : undefined;
  if (part === undefined) throw fault("InvalidPartNumber", `The object has parts 1 to ${parts.length}`);
  const first = parts.slice(0, Number(asked) - 1).reduce((sum, { size }) => sum + size, 0);
  return part.size === 0 ? undefined : { first, last: first + part.size - 1 };
}

/** The number of parts, in the answer to a read of a part. */
export function partsHeader({ query }: ObjectCall, object: StoredObject): Record<string, string> {
  const parts = query("partNumber") === undefined ? undefined : partsOf(object);
  return parts === undefined ? {} : { "x-amz-mp-parts-count": String(parts.length) };
}

const shown: Record<string, (call: ObjectCall, object: StoredObject) => readonly Xml[]> = {
  ETag: (_, { etag }) => [["ETag", etag]],
  Checksum: (_, { checksum }) =>
    checksum === undefined
      ? []
      : [
          [
            "Checksum",
            [
              [`Checksum${checksum.name.toUpperCase()}`, checksum.value],
              ["ChecksumType", "FULL_OBJECT"],
            ],
          ],
        ],
  ObjectParts: (call, object) => {
    const parts = partsOf(object);
    return parts === undefined ? [] : [["ObjectParts", pageOf(call, parts)]];
  },
  StorageClass: () => [["StorageClass", "STANDARD"]],
  ObjectSize: (_, { size }) => [["ObjectSize", size]],
};

function pageOf({ header }: ObjectCall, parts: readonly BlobRef[]): Xml[] {
  const most = Math.min(countIn("x-amz-max-parts", header("x-amz-max-parts"), 1000), 1000);
  const marker = countIn("x-amz-part-number-marker", header("x-amz-part-number-marker"), 0);
  const page = parts.slice(marker, marker + most);
  return [
    ["PartsCount", parts.length],
    ["PartNumberMarker", marker],
    ["NextPartNumberMarker", marker + page.length],
    ["MaxParts", most],
    ["IsTruncated", marker + page.length < parts.length],
    ...page.map(
      ({ size }, index): Xml => [
        "Part",
        [
          ["PartNumber", marker + index + 1],
          ["Size", size],
        ],
      ],
    ),
  ];
}

function countIn(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  if (!/^\d{1,9}$/.test(text)) throw fault("InvalidArgument", `${name} must be a whole number`);
  return Number(text);
}

/** GetObjectAttributes: what is asked for, without the content. */
export function attributesOf(call: ObjectCall, object: StoredObject): S3Reply {
  const asked = (call.header("x-amz-object-attributes") ?? "").split(",").map((each) => each.trim());
  const wrong = asked.find((name) => shown[name] === undefined);
  if (wrong !== undefined) {
    throw fault("InvalidArgument", `x-amz-object-attributes names ${Object.keys(shown).join(", ")}, not "${wrong}"`);
  }
  const found = Object.entries(shown).flatMap(([name, of]) => (asked.includes(name) ? of(call, object) : []));
  const { versionId } = object;
  return {
    status: 200,
    headers: {
      "last-modified": httpDate(object.modifiedAt),
      ...(versionId !== undefined && { "x-amz-version-id": versionId }),
    },
    xml: ["GetObjectAttributesResponse", found],
  };
}
