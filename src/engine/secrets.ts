import type { Clock } from "../clock.ts";
import type { KubeObject } from "../kube/resource.ts";
import { createStore } from "../kube/store.ts";
import type { KubeClient } from "../kube/transport.ts";
import { type Watcher, watch } from "../kube/watch.ts";
import { SECRETS, secretValue } from "./references.ts";

/**
 * The Secrets that Accounts take their tokens from. Each is watched by its name, so that a change is noticed at once
 * and no other Secret of the cluster is ever read.
 */
export interface CredentialSecrets {
  /** The value of a key, on behalf of `owner`; "unknown" until the Secret was looked for. */
  read(owner: string, namespace: string, name: string, key: string): { known: boolean; value: string | undefined };
  release(owner: string): void;
  close(): Promise<void>;
}

export function createCredentialSecrets(options: {
  client: KubeClient;
  clock: Clock;
  /** The Secret of this owner has changed, appeared or gone. */
  wake: (owner: string) => void;
  onError: (error: unknown) => void;
}): CredentialSecrets {
  const { client, clock, wake, onError } = options;
  const watched = new Map<
    string,
    { secret: string; watcher: Watcher; known: boolean; latest: () => KubeObject | undefined }
  >();

  function release(owner: string): void {
    void watched.get(owner)?.watcher.stop();
    watched.delete(owner);
  }

  return {
    read(owner, namespace, name, key) {
      const secret = `${namespace}/${name}`;
      if (watched.get(owner)?.secret !== secret) {
        release(owner);
        const store = createStore<KubeObject>({ onListenerError: onError });
        store.subscribe(() => wake(owner));
        const fieldSelector = `metadata.name=${name}`;
        const watcher = watch({ client, resource: SECRETS, namespace, fieldSelector, store, clock, onError });
        const entry = { secret, watcher, known: false, latest: () => store.get(secret) };
        watched.set(owner, entry);
        void watcher.synced.then(() => {
          entry.known = true;
          wake(owner);
        });
      }
      const entry = watched.get(owner);
      const object = entry?.latest();
      return { known: entry?.known ?? false, value: object && secretValue(object, key) };
    },
    release,
    async close() {
      await Promise.all([...watched.values()].map(({ watcher }) => watcher.stop()));
      watched.clear();
    },
  };
}
