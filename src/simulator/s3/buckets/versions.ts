import { randomBytes } from "node:crypto";
import type { Documents } from "../../store/documents.ts";
import { textOf } from "../xml/xml.ts";
import type { BlobRef } from "./blobs.ts";
import { type Bucket, type StoredObject, type Version, versionSchema } from "./records.ts";

/** Whether a bucket keeps versions; undefined: it never did. */
export const statusOf = ({ settings }: Bucket) => textOf(settings.versioning ?? "", "Status");

/** The version id of an object that was made without versioning. */
export const versionIdOf = ({ versionId }: { versionId?: string | undefined }) => versionId ?? "null";

const newVersionId = () => randomBytes(16).toString("base64url");

/** Older versions of objects that were replaced or deleted, and markers of deletions. */
export function createVersions(documents: Documents) {
  const table = documents.table("s3-versions", versionSchema);
  const byKey = new Map<string, Map<string, Version[]>>();
  let last = 0;
  table.watch((before, after) => {
    const { bucket, key } = after ?? before ?? { bucket: "", key: "" };
    const keys = byKey.get(bucket) ?? new Map<string, Version[]>();
    const others = (keys.get(key) ?? []).filter(({ n }) => n !== before?.n && n !== after?.n);
    const rows = after === undefined ? others : [...others, after].sort((a, b) => b.n - a.n);
    if (rows.length > 0) keys.set(key, rows);
    else keys.delete(key);
    byKey.set(bucket, keys);
    last = Math.max(last, after?.n ?? 0);
  });

  const of = (bucket: string, key: string): readonly Version[] => byKey.get(bucket)?.get(key) ?? [];
  const add = (version: Omit<Version, "n">) => table.put(String(last + 1), { ...version, n: last + 1 });
  const drop = ({ n }: Version) => table.delete(String(n));

  return {
    /** The newest first. */
    of,
    keys: (bucket: string): string[] => [...(byKey.get(bucket)?.keys() ?? [])],
    newVersionId,
    drop,
    archive: (object: StoredObject) =>
      add({
        bucket: object.bucket,
        key: object.key,
        versionId: versionIdOf(object),
        object,
        modifiedAt: object.modifiedAt,
      }),
    put: (version: Version) => table.put(String(version.n), version),
    /** Marks a key as deleted. */
    mark(bucket: string, key: string, versionId: string, modifiedAt: number): void {
      add({ bucket, key, versionId, object: null, modifiedAt });
    },
    /** Drops the version without an id: a key has at most one. */
    dropNull(bucket: string, key: string): readonly BlobRef[] {
      const kept = of(bucket, key).find(({ versionId }) => versionId === "null");
      if (kept !== undefined) drop(kept);
      return kept?.object?.blobs ?? [];
    },
    *blobs(): Iterable<BlobRef> {
      for (const { object } of table.values()) yield* object?.blobs ?? [];
    },
  };
}
