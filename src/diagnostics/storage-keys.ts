import { z } from "zod";
import type { Connection } from "../platform/calls/transport.ts";
import { coreUrl } from "../platform/products/core-url.ts";
import { checked, withQuery } from "../platform/products/paging.ts";

/** Credentials for object storage. Never shown. */
export interface StorageKeys {
  accessKey: string;
  secretKey: string;
}

const keyShape = z.looseObject({
  id: z.string().min(1),
  properties: z.looseObject({ secretKey: z.string().min(1), active: z.boolean() }),
});
const keysShape = z.looseObject({ items: z.array(keyShape) });

const wayOut = "set MOORING_S3_ACCESS_KEY and MOORING_S3_SECRET_KEY";

/** The keys of the environment, if they are set. */
export function givenKeys(env: Record<string, string | undefined>): StorageKeys | undefined {
  const { MOORING_S3_ACCESS_KEY: accessKey, MOORING_S3_SECRET_KEY: secretKey } = env;
  if (accessKey && secretKey) return { accessKey, secretKey };
  if (accessKey || secretKey) throw new Error("set both MOORING_S3_ACCESS_KEY and MOORING_S3_SECRET_KEY, or neither");
  return undefined;
}

/** The address of the keys of the token's user. */
export function ownKeysUrl({ identity }: Pick<Connection, "identity">, api: string): string {
  if (identity?.userId === undefined) throw new Error(`the token does not name its user: ${wayOut}`);
  return coreUrl(api, `/um/users/${encodeURIComponent(identity.userId)}/s3keys`);
}

/** The first active key of the token's user. */
export async function ownKeys(
  connection: Pick<Connection, "identity"> & {
    send(call: { method: "GET"; url: string; signal: AbortSignal }): Promise<{ body: unknown }>;
  },
  api: string,
  signal: AbortSignal,
): Promise<StorageKeys | undefined> {
  const url = withQuery(ownKeysUrl(connection, api), { depth: "1" });
  const { body } = await connection.send({ method: "GET", url, signal });
  const found = checked(keysShape, body, url).items.find(({ properties }) => properties.active);
  return found && keysOf(found);
}

export const readKey = (body: unknown, url: string): StorageKeys => keysOf(checked(keyShape, body, url));

export const noKeys = (also = ""): Error =>
  new Error(`the token's user has no active object storage key: ${also}${wayOut}`);

const keysOf = ({ id, properties }: z.infer<typeof keyShape>): StorageKeys => ({
  accessKey: id,
  secretKey: properties.secretKey,
});
