import { z } from "zod";
import { coreUrl } from "../../platform/core.ts";
import { checked, withQuery } from "../../platform/paging.ts";
import type { PlatformAccess } from "../platform-access.ts";

/** What proves to object storage who asks. Never shown. */
export interface StorageKeys {
  accessKey: string;
  secretKey: string;
}

export interface KeyOptions {
  /** Make a key when the user has none. */
  create: boolean;
  env: Record<string, string | undefined>;
  signal: AbortSignal;
}

const keyShape = z.looseObject({
  id: z.string().min(1),
  properties: z.looseObject({ secretKey: z.string().min(1), active: z.boolean() }),
});
const keysShape = z.looseObject({ items: z.array(keyShape) });

/** The keys of the environment, else the first active one of the token's own user, else, if wished, a new one. */
export async function findKeys(access: PlatformAccess, { create, env, signal }: KeyOptions): Promise<StorageKeys> {
  const { MOORING_S3_ACCESS_KEY: accessKey, MOORING_S3_SECRET_KEY: secretKey } = env;
  if (accessKey && secretKey) return { accessKey, secretKey };
  if (accessKey || secretKey) throw new Error("set both MOORING_S3_ACCESS_KEY and MOORING_S3_SECRET_KEY, or neither");

  const connection = access.connection();
  const userId = connection.identity?.userId;
  const wayOut = "set MOORING_S3_ACCESS_KEY and MOORING_S3_SECRET_KEY";
  if (userId === undefined) throw new Error(`the token does not say whose it is: ${wayOut}`);
  const url = coreUrl(access.endpoint("api"), `/um/users/${encodeURIComponent(userId)}/s3keys`);
  const listUrl = withQuery(url, { depth: "1" });
  const { body } = await connection.send({ method: "GET", url: listUrl, priority: "people", signal });
  const found = checked(keysShape, body, listUrl).items.find(({ properties }) => properties.active);
  if (found) return keysOf(found);
  if (!create) {
    throw new Error(`the token's user has no active object storage key: run again with --create-key, or ${wayOut}`);
  }
  const made = await connection.send({ method: "POST", url, priority: "people", signal });
  return keysOf(checked(keyShape, made.body, url));
}

const keysOf = ({ id, properties }: z.infer<typeof keyShape>): StorageKeys => ({
  accessKey: id,
  secretKey: properties.secretKey,
});
