import { givenKeys, noKeys, ownKeys, ownKeysUrl, readKey, type StorageKeys } from "../../diagnostics/storage-keys.ts";
import type { PlatformAccess } from "../platform-access.ts";

export interface KeyOptions {
  /** Whether to create a key if the user has none. */
  create: boolean;
  env: Record<string, string | undefined>;
  signal: AbortSignal;
}

/** The keys of the environment, else the first active key of the token's user, else a new one if `create` is set. */
export async function findKeys(access: PlatformAccess, { create, env, signal }: KeyOptions): Promise<StorageKeys> {
  const given = givenKeys(env);
  if (given) return given;
  const connection = access.connection();
  const interactive = {
    identity: connection.identity,
    send: (call: Parameters<typeof connection.send>[0]) => connection.send({ ...call, priority: "people" }),
  };
  const api = access.endpoint("api");
  const found = await ownKeys(interactive, api, signal);
  if (found) return found;
  if (!create) throw noKeys("run again with --create-key, or ");
  const url = ownKeysUrl(connection, api);
  const made = await interactive.send({ method: "POST", url, signal });
  return readKey(made.body, url);
}
