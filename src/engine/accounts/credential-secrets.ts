import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../clock.ts";
import { apply } from "../../kube/apply.ts";
import { createDelays } from "../../kube/delays.ts";
import { isConflict, isNotFound } from "../../kube/errors.ts";
import { fetchSecret, SECRETS, secretValue } from "../../kube/owned-secret.ts";
import { type KubeObject, keyOf, pathOf } from "../../kube/resource.ts";
import { createStore } from "../../kube/store.ts";
import type { KubeClient } from "../../kube/transport.ts";
import { type Watcher, watch } from "../../kube/watch.ts";
import { CREDENTIALS, FINALIZER } from "../objects/names.ts";
import { withoutData } from "../objects/published.ts";

/**
 * The Secrets that Accounts take their tokens from. Each is read by its name, and no other Secret of the cluster is. While
 * an Account uses it, it has a label, by which one watch sees changes of all of them, and a finalizer: when a namespace is
 * deleted, everything in it goes at the same time, and without the token nothing could be cleaned up.
 *
 * Whatever is the reason to read a Secret again, a change or that it does not exist yet, the pause between two reads grows
 * from one second to fifteen, and is short again after a minute of rest. So does the one between two writes to it.
 */
export interface CredentialSecrets {
  /** The value of a key, on behalf of an Account; not `known` until the Secret was looked for. */
  read(account: string, namespace: string, name: string, key: string): { known: boolean; value: string | undefined };
  /** Keeps the Secret from going. */
  hold(account: string): Promise<void>;
  /** Lets it go, unless another Account needs it. */
  release(account: string): Promise<void>;
  /** Lets go of all but these (namespace/name): a process that died may not have got to it. */
  releaseOthers(named: ReadonlySet<string>): Promise<void>;
  /** Begins to watch. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

interface Needed {
  readonly at: { namespace: string; name: string };
  readonly accounts: Set<string>;
  known: boolean;
  secret: KubeObject | undefined;
  /** Somebody has written to it since it was read. */
  stale: boolean;
  lookedAt: number;
  pauseMs: number;
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 15_000;
const REST_MS = 60_000;
/** So many are read at the same time, however many Accounts there are. */
const PARALLEL = 4;

export function createCredentialSecrets(options: {
  client: KubeClient;
  clock: Clock;
  namespace?: string;
  /** The Secret of this Account has changed, appeared or gone. */
  wake: (account: string) => void;
  onError: (error: unknown) => void;
}): CredentialSecrets {
  const { client, clock, namespace, wake, onError } = options;
  const needed = new Map<string, Needed>();
  const secretOf = new Map<string, string>();
  const due: string[] = [];
  let looking = 0;
  let watcher: Watcher | undefined;
  const delays = createDelays<void>({ clock, due: lookAt, merge: () => {} });
  const store = createStore<KubeObject>({ onListenerError: onError, keep: withoutData });
  store.subscribe(({ key, after }) => {
    const entry = needed.get(key);
    if (!entry || (after && versionOf(after) === versionOf(entry.secret))) return;
    entry.stale = true;
    later(key, entry);
  });

  const later = (key: string, { lookedAt, pauseMs }: Needed) =>
    delays.add(key, Math.max(0, lookedAt + pauseMs - clock.monotonic()));
  /** A Secret with the label is seen by the watch; the others have to be asked for. */
  const isDue = ({ secret, stale }: Needed) => stale || !isMarked(secret);

  function lookAt(key: string): void {
    due.push(key);
    lookAtDue();
  }

  function lookAtDue(): void {
    while (looking < PARALLEL && due.length > 0) {
      const key = due.shift() ?? "";
      const entry = needed.get(key);
      if (!entry || !isDue(entry)) continue;
      looking++;
      void look(key, entry).finally(() => {
        looking--;
        lookAtDue();
      });
    }
  }

  async function look(key: string, entry: Needed): Promise<void> {
    const now = clock.monotonic();
    entry.pauseMs = now - entry.lookedAt >= REST_MS ? FIRST_PAUSE_MS : Math.min(2 * entry.pauseMs, LONGEST_PAUSE_MS);
    entry.lookedAt = now;
    entry.stale = false;
    try {
      see(entry, await fetchSecret(client, entry.at));
    } catch (error) {
      entry.stale = true;
      onError(error);
    }
    if (isDue(entry)) later(key, entry);
  }

  function see(entry: Needed, secret: KubeObject | undefined): void {
    const before = entry.secret;
    entry.secret = secret;
    // A list that does not have it any more tells then that it is gone.
    if (secret && isMarked(secret)) store.put(secret);
    const isBare = secret && !isHeld(secret) && versionOf(secret) !== versionOf(before);
    const isNews = !entry.known || isBare || !isDeepStrictEqual(dataOf(before), dataOf(secret));
    entry.known = true;
    if (isNews) for (const account of entry.accounts) wake(account);
  }

  function need(account: string, at: Needed["at"]): Needed {
    const key = `${at.namespace}/${at.name}`;
    if (secretOf.get(account) !== key) release(account).catch(onError);
    secretOf.set(account, key);
    let entry = needed.get(key);
    if (!entry) {
      entry = {
        at,
        accounts: new Set(),
        known: false,
        secret: undefined,
        stale: true,
        lookedAt: -Infinity,
        pauseMs: 0,
      };
      needed.set(key, entry);
      later(key, entry);
    }
    entry.accounts.add(account);
    return entry;
  }

  async function release(account: string): Promise<void> {
    const key = secretOf.get(account) ?? "";
    const entry = needed.get(key);
    secretOf.delete(account);
    entry?.accounts.delete(account);
    if (!entry || entry.accounts.size > 0) return;
    needed.delete(key);
    if (entry.secret) await letGo(client, entry.secret);
  }

  return {
    read(account, namespace, name, key) {
      const { known, secret } = need(account, { namespace, name });
      return { known, value: secret && secretValue(secret, key) };
    },
    async hold(account) {
      const entry = needed.get(secretOf.get(account) ?? "");
      // An object on its way out takes no new finalizers.
      if (!entry?.secret || isHeld(entry.secret) || entry.secret.metadata.deletionTimestamp) return;
      const held = await keep(client, entry.secret);
      if (held) see(entry, held);
    },
    release,
    async releaseOthers(named) {
      for (const secret of store.values()) if (!named.has(keyOf(secret))) await letGo(client, secret);
    },
    async sync() {
      const labelSelector = `${CREDENTIALS}=true`;
      const where = { resource: SECRETS, labelSelector, ...(namespace !== undefined && { namespace }) };
      watcher = watch({ client, store, clock, onError, ...where });
      await watcher.synced;
    },
    async close() {
      delays.clear();
      needed.clear();
      await watcher?.stop();
    },
  };
}

const isMarked = (secret: KubeObject | undefined): boolean => secret?.metadata.labels?.[CREDENTIALS] === "true";
const isHeld = (secret: KubeObject): boolean =>
  isMarked(secret) && (secret.metadata.finalizers?.includes(FINALIZER) ?? false);
const versionOf = (secret: KubeObject | undefined): string => secret?.metadata.resourceVersion ?? "";
const dataOf = (secret: KubeObject | undefined): unknown => secret && Reflect.get(secret, "data");

/** Adds label and finalizer and writes nothing else; undefined when the Secret has gone meanwhile. */
async function keep(client: KubeClient, secret: KubeObject): Promise<KubeObject | undefined> {
  const { name, namespace, uid } = secret.metadata;
  const marks = { labels: { [CREDENTIALS]: "true" }, finalizers: [FINALIZER] };
  const metadata = { name, ...(namespace && { namespace }), ...(uid && { uid }), ...marks };
  try {
    return await apply(client, SECRETS, { apiVersion: "v1", kind: "Secret", metadata });
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return undefined;
    throw error;
  }
}

/** Takes both away, also those that came with the Secret out of a backup, which apply would leave. */
async function letGo(client: KubeClient, secret: KubeObject): Promise<void> {
  const { name, namespace, uid } = secret.metadata;
  const at = { name, namespace: namespace ?? "" };
  for (let current: KubeObject | undefined = secret; current && current.metadata.uid === uid; ) {
    const { resourceVersion, finalizers = [] }: KubeObject["metadata"] = current.metadata;
    if (!isMarked(current) && !finalizers.includes(FINALIZER)) return;
    const others = finalizers.filter((each) => each !== FINALIZER);
    const body = { metadata: { uid, resourceVersion, finalizers: others, labels: { [CREDENTIALS]: null } } };
    try {
      const contentType = "application/merge-patch+json";
      await client.request({ method: "PATCH", path: pathOf(SECRETS, at), contentType, body });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error)) throw error;
      current = await fetchSecret(client, at);
    }
  }
}
