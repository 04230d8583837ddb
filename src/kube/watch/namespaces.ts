import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../runtime/clock.ts";
import { isForbidden } from "../client/errors.ts";
import type { KubeClient } from "../client/transport.ts";
import type { KubeObject } from "../resource.ts";
import { reducedMetadata } from "./reduced.ts";
import { createStore } from "./store.ts";
import { type Watcher, watch } from "./watch.ts";

const NAMESPACES = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false };

/** Namespaces as last seen. In one that is being deleted nothing new can be kept: it takes no more objects. */
export interface Namespaces {
  isTerminating(name: string): boolean;
  /** Undefined for one that is not known. */
  labelsOf(name: string): Readonly<Record<string, string>> | undefined;
  values(): IterableIterator<KubeObject>;
  /** Begins to watch; resolves when it has looked, or may not: then none is known. */
  begin(): Promise<void>;
  close(): Promise<void>;
}

export function createNamespaces(options: {
  client: KubeClient;
  clock: Clock;
  /** The only one that matters. */
  namespace?: string | undefined;
  /** Its labels are not what they were. */
  relabelled: (name: string, before: Readonly<Record<string, string>> | undefined) => void;
  onError: (error: unknown) => void;
}): Namespaces {
  const { client, clock, namespace, relabelled, onError } = options;
  const reduce = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => ({
    apiVersion,
    kind,
    // Whose labels count is the administrator's choice.
    metadata: reducedMetadata(metadata, { prefix: "", labels: "all" }),
  });
  const store = createStore<KubeObject>({ onListenerError: onError, reduce });
  let watcher: Watcher | undefined;
  let looked = false;
  store.subscribe(({ key, before, after }) => {
    if (looked && !isDeepStrictEqual(before?.metadata.labels, after?.metadata.labels))
      relabelled(key, before?.metadata.labels);
  });
  return {
    isTerminating: (name) => store.get(name)?.metadata.deletionTimestamp !== undefined,
    labelsOf(name) {
      const found = store.get(name);
      return found && (found.metadata.labels ?? {});
    },
    values: () => store.values(),
    async begin() {
      const fieldSelector = namespace === undefined ? {} : { fieldSelector: `metadata.name=${namespace}` };
      const refused = Promise.withResolvers<void>();
      const failed = (error: unknown) => {
        onError(error);
        if (isForbidden(error)) refused.resolve();
      };
      watcher = watch({ client, resource: NAMESPACES, store, clock, onError: failed, ...fieldSelector });
      // Rejects only when it is stopped before.
      const synced = watcher.synced.catch(() => {});
      await Promise.race([synced, refused.promise]);
      looked = true;
    },
    close: async () => watcher?.stop(),
  };
}
