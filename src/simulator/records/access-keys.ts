import { z } from "zod";
import type { Documents } from "../store/documents.ts";
import { type Own, type Row, rowSchema } from "./life.ts";

const accessKeySchema = z.object({ description: z.string(), accessKey: z.string(), secretKey: z.string() });

/** A key for the object storage of the user who made it. */
export type AccessKey = Readonly<z.infer<typeof accessKeySchema>>;

/** Everything that the platform remembers of the management of object storage. */
export function createAccessKeys(documents: Documents) {
  const keys = documents.table("s3-access-keys", rowSchema(accessKeySchema));
  const byAccessKey = new Map<string, string>();
  keys.watch((before, after) => {
    if (before !== undefined) byAccessKey.delete(before.own.accessKey);
    if (after !== undefined) byAccessKey.set(after.own.accessKey, after.id);
  });
  return {
    keys,
    find: (accessKey: string): Row<Own<AccessKey>> | undefined => keys.get(byAccessKey.get(accessKey) ?? ""),
  };
}

export type AccessKeys = ReturnType<typeof createAccessKeys>;
