import { createBuiltin } from "./builtin.ts";
import { createExternal } from "./external.ts";
import type { ObjectStorage, StorageParts } from "./object-storage.ts";
import { createVersitygw } from "./versitygw/gateway.ts";

/** Where flow logs go unless somebody says otherwise. Every storage has it. */
const firstBucket = "flow-logs";

/** `builtin`, `versitygw`, or the URL of an object storage that runs elsewhere. */
export function chooseStorage(choice: string, parts: StorageParts): ObjectStorage {
  const buckets = [...new Set([firstBucket, ...parts.buckets])];
  // Made in any case: it declares the tables that a data directory may hold from another run.
  const builtin = createBuiltin({ ...parts, buckets });
  if (choice === "builtin") return builtin;
  return choice === "versitygw"
    ? createVersitygw({ ...parts, buckets })
    : createExternal(choice, { ...parts, buckets });
}
