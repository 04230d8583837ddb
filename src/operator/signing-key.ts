import { randomBytes } from "node:crypto";
import type { Clock } from "../clock.ts";
import { MANAGED_BY } from "../engine/objects/names.ts";
import { createSeal, type Seal } from "../engine/objects/seal.ts";
import { GROUP } from "../kinds/index.ts";
import { isConflict, isNotFound } from "../kube/client/errors.ts";
import type { KubeClient } from "../kube/client/transport.ts";
import { type KubeObject, pathOf } from "../kube/resource.ts";
import { createStore } from "../kube/watch/store.ts";
import { watch } from "../kube/watch/watch.ts";
import { SECRETS, secretValue } from "../kube/write/owned-secret.ts";
import { once } from "../once.ts";

export const SIGNING_KEY = "mooring-signing-key";
/** Signs; every other entry of the Secret counts as well. */
const CURRENT = "current";
/** Until when objects that are older than the key are believed without a signature. */
const UNSIGNED_UNTIL = `${GROUP}/unsigned-until`;
const UPGRADE_MS = 3_600_000;

interface Options {
  client: KubeClient;
  clock: Clock;
  namespace: string;
  onError: (error: unknown) => void;
}

/**
 * The seal whose keys are in a Secret of the operator's namespace. Without one it is made, once: all operators of a
 * cluster share it. Keys can be exchanged while the operator runs; a Secret that somebody deletes is put back.
 */
export async function openSeal(options: Options): Promise<Seal & AsyncDisposable> {
  const { client, clock, namespace, onError } = options;
  let secret = (await read(options)) ?? (await create(options));
  const store = createStore<KubeObject>({ onListenerError: onError });
  store.subscribe(({ after }) => {
    if (after && keysIn(after).length > 0) secret = after;
    else if (!after) create(options, secret).catch(onError);
  });
  const fieldSelector = `metadata.name=${SIGNING_KEY}`;
  const watcher = watch({ client, resource: SECRETS, namespace, fieldSelector, store, clock, onError });
  watcher.synced.catch(() => {});
  const seal = createSeal({
    keys: () => keysIn(secret),
    believes: ({ metadata }) => isOlder(metadata, secret) && clock.now() < unsignedUntil(secret),
  });
  return { ...seal, [Symbol.asyncDispose]: () => watcher.stop() };
}

const unsignedUntil = ({ metadata }: KubeObject): number =>
  Date.parse(metadata.annotations?.[UNSIGNED_UNTIL] ?? "") || 0;

const isOlder = (one: KubeObject["metadata"], { metadata }: KubeObject): boolean =>
  Date.parse(one.creationTimestamp ?? "") < Date.parse(metadata.creationTimestamp ?? "");

/** The one that signs comes first. The same list for the same Secret. */
const keysIn: (secret: KubeObject) => string[] = once(readKeys);

function readKeys(secret: KubeObject): string[] {
  const names = Object.keys(Object(Reflect.get(secret, "data"))).sort();
  const ordered = [CURRENT, ...names.filter((name) => name !== CURRENT)];
  return ordered.flatMap((name) => secretValue(secret, name) || []);
}

async function read({ client, namespace }: Options): Promise<KubeObject | undefined> {
  try {
    const path = pathOf(SECRETS, { namespace, name: SIGNING_KEY });
    const secret = await client.request<KubeObject>({ method: "GET", path });
    if (keysIn(secret).length > 0) return secret;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
  throw new Error(
    `Secret ${namespace}/${SIGNING_KEY} has no key: restore it, or delete the Secret to start with a new key`,
  );
}

/** Makes the Secret, or puts it back. */
async function create(options: Options, former?: KubeObject): Promise<KubeObject> {
  const { client, clock, namespace } = options;
  const until = new Date(clock.now() + UPGRADE_MS).toISOString();
  const data: unknown = former && Reflect.get(former, "data");
  const body = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: SIGNING_KEY,
      namespace,
      labels: { [MANAGED_BY]: "mooring" },
      annotations: former ? (former.metadata.annotations ?? {}) : { [UNSIGNED_UNTIL]: until },
    },
    type: "Opaque",
    data: data ?? { [CURRENT]: Buffer.from(randomBytes(32).toString("base64url")).toString("base64") },
  };
  try {
    return await client.request<KubeObject>({ method: "POST", path: pathOf(SECRETS, { namespace }), body });
  } catch (error) {
    const found = isConflict(error) ? await read(options) : undefined;
    if (found) return found;
    throw error;
  }
}
