import { listPage } from "../buckets/listing.ts";
import type { StoredObject } from "../buckets/records.ts";
import { type BucketCall, type Depot, isoDate, ownerOf, type S3Call, type S3Reply } from "../call.ts";
import { fault } from "../fault.ts";
import { encoded } from "../request/target.ts";
import type { Xml } from "../xml/xml.ts";

const largestPage = 1000;

/** Lists of the objects of a bucket: ListObjectsV2, ListObjects and ListObjectVersions. */
export function listOperations({ buckets }: Depot, nameOf: (userId: string) => string) {
  function contents({ bucket }: BucketCall, key: string, shown: string, withOwner: boolean): Xml {
    const object = buckets.object(bucket.name, key);
    const owner = withOwner ? [ownerOf({ ...bucket, name: nameOf(bucket.userId) })] : [];
    return ["Contents", object === undefined ? [] : [...entry(object, shown), ...owner]];
  }

  return {
    v2(call: BucketCall): S3Reply {
      const [token, startAfter] = [call.query("continuation-token"), call.query("start-after")];
      const { keys, next, shown, common, count } = pageOf(
        call,
        buckets.keys(call.bucket.name),
        token === undefined ? (startAfter ?? "") : fromToken(token),
      );
      const withOwner = call.query("fetch-owner") === "true";
      const listed = keys.map((key) => contents(call, key, shown(key), withOwner));
      const answer: Xml[] = [
        ...common,
        ["KeyCount", count],
        ...optional("StartAfter", startAfter && shown(startAfter)),
        ...optional("ContinuationToken", token),
        ...optional("NextContinuationToken", next === undefined ? undefined : toToken(next)),
        ...listed,
      ];
      return { status: 200, xml: ["ListBucketResult", answer] };
    },

    v1(call: BucketCall): S3Reply {
      const marker = call.query("marker") ?? "";
      const { keys, next, shown, common } = pageOf(call, buckets.keys(call.bucket.name), marker);
      const listed = keys.map((key) => contents(call, key, shown(key), true));
      const answer: Xml[] = [
        ...common,
        ["Marker", shown(marker)],
        ...optional("NextMarker", next && shown(next)),
        ...listed,
      ];
      return { status: 200, xml: ["ListBucketResult", answer] };
    },

    /** All versions of a key are on one page; what was made without versioning has the one that S3 calls `null`. */
    versions(call: BucketCall): S3Reply {
      const marker = call.query("key-marker") ?? "";
      const { name, userId } = call.bucket;
      const { keys, next, shown, common } = pageOf(call, buckets.allKeys(name), marker);
      const owner = ownerOf({ ...call.bucket, name: nameOf(userId) });
      const listed = keys.flatMap((key) =>
        buckets.versions(name, key).map(({ versionId, object, modifiedAt }, index): Xml => {
          const version: Xml[] = [
            ["VersionId", versionId],
            ["IsLatest", index === 0],
          ];
          return object === null
            ? ["DeleteMarker", [["Key", shown(key)], ["LastModified", isoDate(modifiedAt)], owner, ...version]]
            : ["Version", [...entry(object, shown(key)), owner, ...version]];
        }),
      );
      const answer: Xml[] = [
        ...common,
        ["KeyMarker", shown(marker)],
        ...optional("NextKeyMarker", next && shown(next)),
        ...listed,
      ];
      return { status: 200, xml: ["ListVersionsResult", answer] };
    },
  };
}

const entry = (object: StoredObject, shown: string): Xml[] => [
  ["Key", shown],
  ["LastModified", isoDate(object.modifiedAt)],
  ["ETag", `"${object.etag}"`],
  ["Size", object.size],
  ["StorageClass", "STANDARD"],
];

/** A page of `all`, after a key, with the elements that every form of a list has. */
function pageOf(call: BucketCall, all: readonly string[], after: string) {
  const { bucket, query } = call;
  const asked = { prefix: query("prefix") ?? "", delimiter: query("delimiter") ?? "", after, limit: limitIn(call) };
  const found = listPage(all, asked);
  const shown = query("encoding-type") === "url" ? encoded : (text: string) => text;
  const common: Xml[] = [
    ["Name", bucket.name],
    ["Prefix", shown(asked.prefix)],
    ["MaxKeys", asked.limit],
    ["IsTruncated", found.next !== undefined],
    ...optional("Delimiter", asked.delimiter === "" ? undefined : shown(asked.delimiter)),
    ...optional("EncodingType", query("encoding-type")),
    ...found.prefixes.map((prefix): Xml => ["CommonPrefixes", [["Prefix", shown(prefix)]]]),
  ];
  return { ...found, shown, common, count: found.keys.length + found.prefixes.length };
}

const optional = (name: string, value: string | undefined): Xml[] => (value === undefined ? [] : [[name, value]]);

function limitIn({ query }: S3Call): number {
  const text = query("max-keys") ?? String(largestPage);
  if (!/^\d{1,9}$/.test(text)) throw fault("InvalidArgument", "max-keys must be a whole number, 0 or more");
  return Math.min(Number(text), largestPage);
}

const toToken = (item: string) => Buffer.from(item).toString("base64url");

function fromToken(token: string): string {
  const item = Buffer.from(token, "base64url").toString();
  if (item === "" || toToken(item) !== token) {
    throw fault("InvalidArgument", "The continuation token is not one of an earlier answer");
  }
  return item;
}
