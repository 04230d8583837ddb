import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { MANAGED_BY } from "../engine/state/names.ts";
import { createSignatures, type Signatures } from "../engine/state/signatures.ts";
import { GROUP } from "../kinds/index.ts";
import { isConflict, isNotFound } from "../kube/client/errors.ts";
import type { KubeClient } from "../kube/client/transport.ts";
import { type KubeObject, pathOf, SECRETS } from "../kube/resource.ts";
import { fetchObject } from "../kube/watch/followed.ts";
import { createStore } from "../kube/watch/store.ts";
import { watch } from "../kube/watch/watch.ts";
import { secretValue } from "../kube/write/owned-secret.ts";
import { type Clock, sleep } from "../runtime/clock.ts";
import { UsageError } from "../server/usage-error.ts";

export const SIGNING_KEY = "mooring-signing-key";
/** The key that signs. Signatures of all other keys in the Secret are valid too. */
const CURRENT = "current";
/**
 * An annotation that an administrator sets on the Secret: until then, objects without a signature of a known key are accepted.
 */
const UNSIGNED_UNTIL = `${GROUP}/unsigned-until`;

const POLL_MS = 5_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** The longest timer that Node supports. A later expiry needs no timer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

interface Options {
  client: KubeClient;
  clock: Clock;
  namespace: string;
  log: { warn(detail: object, message: string): void; error(detail: object, message: string): void };
  /** Called with whether the Secret is missing. */
  observe?: (missing: boolean) => void;
}

export interface SigningKey extends AsyncDisposable {
  readonly seal: Signatures;
  /** Whether there is a key; without one nothing can be signed. */
  isThere(): boolean;
  /** Calls the listener whenever the keys change: signatures must then be verified again. */
  subscribe(listener: () => void): void;
  /**
   * Resolves when there is a key. Creates one, unless objects are signed with an unknown key (`unknown` returns their number):
   * a new key would only hide that theirs is missing.
   */
  ensure(unknown: () => number): Promise<void>;
}

/**
 * The signing keys, in a Secret of the operator's namespace that all operators of an installation share. They can be rotated at
 * runtime. If the Secret is deleted, it is recreated, with retries.
 */
export async function openSigningKey(options: Options): Promise<SigningKey> {
  const { client, clock, namespace, log, observe = () => {} } = options;
  const title = `Secret ${namespace}/${SIGNING_KEY}`;
  const stopping = new AbortController();
  const listeners = new Set<() => void>();
  let secret = await read(options);
  if (!secret) await requireNamespace(options);
  let keys: readonly string[] = secret ? keysIn(secret) : [];
  let appeared = Promise.withResolvers<void>();
  let cancelExpiry = () => {};

  /** A new array, even with the same keys, causes all signatures to be verified again. */
  function renew(next: readonly string[]): void {
    keys = [...next];
    appeared.resolve();
    for (const listener of listeners) listener();
  }
  /** When `unsigned-until` has passed, all signatures are verified again. */
  function scheduleExpiry(): void {
    cancelExpiry();
    const inMs = (secret ? unsignedUntil(secret) : 0) - clock.now();
    if (inMs > 0 && inMs < LONGEST_TIMER_MS) cancelExpiry = clock.after(inMs, () => renew(keys));
  }
  function accept(found: KubeObject): void {
    const next = keysIn(found);
    if (next.length === 0) {
      log.error({}, `${title} has no key: the operator continues with the previous one; restore it`);
      return;
    }
    const isNews = !isDeepStrictEqual(next, keys) || (secret && unsignedUntil(found) !== unsignedUntil(secret));
    secret = found;
    observe(false);
    scheduleExpiry();
    if (isNews) renew(next);
  }

  async function putBack(former: KubeObject): Promise<void> {
    observe(true);
    log.error({}, `${title} was deleted: putting it back`);
    for (let pauseMs = FIRST_PAUSE_MS; !stopping.signal.aborted; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        return accept(await create(options, former));
      } catch (error) {
        log.error(
          { err: error },
          `${title} could not be restored: next attempt in ${pauseMs / 1000} s; without it, the next start finds no key`,
        );
      }
      await sleep(clock, pauseMs, stopping.signal).catch(() => {});
    }
  }

  const store = createStore<KubeObject>({ onListenerError: (error) => log.error({ err: error }, "listener failed") });
  store.subscribe(({ after }) => {
    if (after) accept(after);
    else if (secret) void putBack(secret);
  });
  const onError = (error: unknown) => log.warn({ err: error }, "watch of the signing key failed");
  const fieldSelector = `metadata.name=${SIGNING_KEY}`;
  const watcher = watch({ client, resource: SECRETS, namespace, fieldSelector, store, clock, onError });
  watcher.synced.catch(() => {});
  scheduleExpiry();

  const believes = () => secret !== undefined && clock.now() < unsignedUntil(secret);
  return {
    seal: createSignatures({ keys: () => keys, believes }),
    isThere: () => keys.length > 0,
    subscribe: (listener) => void listeners.add(listener),
    async ensure(unknown) {
      for (let isLogged = false; keys.length === 0 && !stopping.signal.aborted; isLogged = true) {
        const count = unknown();
        if (count === 0) return accept(await create(options));
        observe(true);
        if (!isLogged) log.error({ objects: count }, missingMessage(namespace, count));
        appeared = Promise.withResolvers();
        await Promise.race([appeared.promise, sleep(clock, POLL_MS, stopping.signal).catch(() => {})]);
      }
      // An unsigned claim is accepted only if no other object names the same resource. That is known now that the caches have
      // synced.
      if (believes()) renew(keys);
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      cancelExpiry();
      await watcher.stop();
    },
  };
}

const missingMessage = (namespace: string, count: number): string =>
  `Secret ${namespace}/${SIGNING_KEY} is missing, and ${count} object(s) are signed with a key that it had: nothing is reconciled until it is restored from a backup (kubectl apply -f). If the key is lost, start with a new one: kubectl -n ${namespace} create secret generic ${SIGNING_KEY} --from-literal=${CURRENT}="$(openssl rand -base64 32)"; these objects then wait with SigningKeyUnknown, and nothing of theirs is created or deleted`;

const unsignedUntil = ({ metadata }: KubeObject): number =>
  Date.parse(metadata.annotations?.[UNSIGNED_UNTIL] ?? "") || 0;

/** The key that signs comes first. */
function keysIn(secret: KubeObject): string[] {
  const names = Object.keys(Object(Reflect.get(secret, "data"))).sort();
  const ordered = [CURRENT, ...names.filter((name) => name !== CURRENT)];
  return ordered.flatMap((name) => secretValue(secret, name) || []);
}

async function read({ client, namespace }: Options): Promise<KubeObject | undefined> {
  const secret = await fetchObject(client, SECRETS, { namespace, name: SIGNING_KEY });
  if (!secret || keysIn(secret).length > 0) return secret;
  throw new Error(
    `Secret ${namespace}/${SIGNING_KEY} has no key: restore it from a backup (kubectl apply -f). If the key is lost, write a new one into it: kubectl -n ${namespace} patch secret ${SIGNING_KEY} --type merge -p "{\\"stringData\\": {\\"${CURRENT}\\": \\"$(openssl rand -base64 32)\\"}}"`,
  );
}

/** The operator has no permission to read its namespace, so a dry-run creation tests whether it exists. */
async function requireNamespace({ client, namespace }: Options): Promise<void> {
  try {
    const body = keySecret(namespace);
    await client.request({ method: "POST", path: pathOf(SECRETS, { namespace }), query: { dryRun: "All" }, body });
  } catch (error) {
    if (isNotFound(error))
      throw new UsageError(
        `namespace ${namespace} of the operator does not exist: create it (kubectl create namespace ${namespace}), or name another one with --namespace`,
      );
    if (!isConflict(error)) throw error;
  }
}

const keySecret = (namespace: string, former?: KubeObject): object => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: {
    name: SIGNING_KEY,
    namespace,
    labels: { [MANAGED_BY]: "mooring" },
    annotations: former?.metadata.annotations ?? {},
  },
  type: "Opaque",
  data: (former && Reflect.get(former, "data")) ?? {
    [CURRENT]: Buffer.from(randomBytes(32).toString("base64url")).toString("base64"),
  },
});

/** Creates the Secret, or recreates it with the data of `former`. */
async function create(options: Options, former?: KubeObject): Promise<KubeObject> {
  const { client, namespace } = options;
  try {
    const body = keySecret(namespace, former);
    return await client.request<KubeObject>({ method: "POST", path: pathOf(SECRETS, { namespace }), body });
  } catch (error) {
    const found = isConflict(error) ? await read(options) : undefined;
    if (found) return found;
    throw error;
  }
}
