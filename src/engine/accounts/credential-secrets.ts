import type { Clock } from "../../clock.ts";
import { apply } from "../../kube/apply.ts";
import { isConflict, isNotFound } from "../../kube/errors.ts";
import { SECRETS, secretValue } from "../../kube/owned-secret.ts";
import { type KubeObject, pathOf } from "../../kube/resource.ts";
import { createStore, type Store } from "../../kube/store.ts";
import type { KubeClient } from "../../kube/transport.ts";
import { type Watcher, watch } from "../../kube/watch.ts";
import { FINALIZER } from "../objects/names.ts";

/**
 * The Secrets that Accounts take their tokens from. Each is watched by its name, so that a change is noticed at once
 * and no other Secret of the cluster is ever read. A finalizer keeps it for as long as the Account needs it: when a
 * namespace is deleted, everything in it goes at the same time, and without the token nothing could be cleaned up.
 */
export interface CredentialSecrets {
  /** The value of a key, on behalf of an Account; not `known` until the Secret was looked for. */
  read(account: string, namespace: string, name: string, key: string): { known: boolean; value: string | undefined };
  /** Keeps the Secret from going. */
  hold(account: string): Promise<void>;
  /** Lets it go, unless another Account needs it, and stops watching it. */
  release(account: string): Promise<void>;
  close(): Promise<void>;
}

interface Watched {
  secret: string;
  store: Store<KubeObject>;
  watcher: Watcher;
  known: boolean;
}

export function createCredentialSecrets(options: {
  client: KubeClient;
  clock: Clock;
  /** The Secret of this Account has changed, appeared or gone. */
  wake: (account: string) => void;
  onError: (error: unknown) => void;
}): CredentialSecrets {
  const { client, clock, wake, onError } = options;
  const watched = new Map<string, Watched>();

  function begin(account: string, secret: string, namespace: string, name: string): Watched {
    const store = createStore<KubeObject>({ onListenerError: onError });
    store.subscribe(() => wake(account));
    const fieldSelector = `metadata.name=${name}`;
    const watcher = watch({ client, resource: SECRETS, namespace, fieldSelector, store, clock, onError });
    const entry: Watched = { secret, store, watcher, known: false };
    watched.set(account, entry);
    const synced = () => {
      entry.known = true;
      wake(account);
    };
    // Rejects only when it is stopped before that.
    watcher.synced.then(synced, () => {});
    return entry;
  }

  async function release(account: string): Promise<void> {
    const entry = watched.get(account);
    if (!entry) return;
    watched.delete(account);
    await entry.watcher.stop();
    const secret = entry.store.get(entry.secret);
    const needed = [...watched.values()].some((other) => other.secret === entry.secret);
    if (secret && !needed) await letGo(client, secret);
  }

  return {
    read(account, namespace, name, key) {
      const secret = `${namespace}/${name}`;
      let entry = watched.get(account);
      if (entry?.secret !== secret) {
        if (entry) release(account).catch(onError);
        entry = begin(account, secret, namespace, name);
      }
      const object = entry.store.get(secret);
      return { known: entry.known, value: object && secretValue(object, key) };
    },
    async hold(account) {
      const entry = watched.get(account);
      const secret = entry?.store.get(entry.secret);
      const held = secret?.metadata.finalizers?.includes(FINALIZER);
      // An object on its way out takes no new finalizers.
      if (!entry || !secret || held || secret.metadata.deletionTimestamp) return;
      entry.store.put(await keep(client, secret));
    },
    release,
    async close() {
      await Promise.all([...watched.values()].map(({ watcher }) => watcher.stop()));
      watched.clear();
    },
  };
}

/** Adds the finalizer and writes nothing else. A Secret that has gone meanwhile comes up again by its watch. */
async function keep(client: KubeClient, secret: KubeObject): Promise<KubeObject> {
  const { name, namespace, uid } = secret.metadata;
  const metadata = { name, ...(namespace && { namespace }), ...(uid && { uid }), finalizers: [FINALIZER] };
  try {
    return await apply(client, SECRETS, { apiVersion: "v1", kind: "Secret", metadata });
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return secret;
    throw error;
  }
}

/** Takes the finalizer away, also one that came with the Secret out of a backup, which apply would leave. */
async function letGo(client: KubeClient, secret: KubeObject): Promise<void> {
  const { name, namespace, uid } = secret.metadata;
  const path = pathOf(SECRETS, { name, ...(namespace && { namespace }) });
  for (let current = secret; current.metadata.uid === uid; ) {
    const { resourceVersion, finalizers = [] } = current.metadata;
    if (!finalizers.includes(FINALIZER)) return;
    const body = { metadata: { uid, resourceVersion, finalizers: finalizers.filter((each) => each !== FINALIZER) } };
    try {
      await client.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error)) throw error;
      current = await client.request<KubeObject>({ method: "GET", path });
    }
  }
}
