import type { Clock } from "../../clock.ts";
import { type KubeObject, metadataOnly } from "../../kube/resource.ts";
import { createStore } from "../../kube/store.ts";
import type { KubeClient } from "../../kube/transport.ts";
import { type Watcher, watch } from "../../kube/watch.ts";

const NAMESPACES = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false };

/** Namespaces as last seen. In one that is being deleted nothing new can be kept: it takes no more objects. */
export interface Namespaces {
  isTerminating(name: string): boolean;
  /** Begins to watch. Until it has looked, and where it may not, none is known to be on its way out. */
  begin(): void;
  close(): Promise<void>;
}

export function createNamespaces(options: {
  client: KubeClient;
  clock: Clock;
  /** The only one that matters. */
  namespace?: string | undefined;
  onError: (error: unknown) => void;
}): Namespaces {
  const { client, clock, namespace, onError } = options;
  const store = createStore<KubeObject>({ onListenerError: onError, keep: metadataOnly });
  let watcher: Watcher | undefined;
  return {
    isTerminating: (name) => store.get(name)?.metadata.deletionTimestamp !== undefined,
    begin() {
      const fieldSelector = namespace === undefined ? {} : { fieldSelector: `metadata.name=${namespace}` };
      watcher = watch({ client, resource: NAMESPACES, store, clock, onError, ...fieldSelector });
      // Rejects only when it is stopped before.
      watcher.synced.catch(() => {});
    },
    close: async () => watcher?.stop(),
  };
}
