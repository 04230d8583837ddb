import { isDeepStrictEqual } from "node:util";
import { isForbidden } from "../client/errors.ts";
import { type KubeObject, NAMESPACES } from "../resource.ts";
import { reducedMetadata } from "./reduced.ts";
import { createWatchedStore, type Watching } from "./watch.ts";

type Labels = Readonly<Record<string, string>>;
type Relabelled = (name: string, before: Labels | undefined) => void;

/** A cache of namespaces. Nothing can be created in a namespace that is being deleted. */
export interface Namespaces {
  isTerminating(name: string): boolean;
  /** Undefined for an unknown namespace. */
  labelsOf(name: string): Labels | undefined;
  /** Undefined for an unknown namespace. */
  uidOf(name: string): string | undefined;
  values(): IterableIterator<KubeObject>;
  /** Calls back when the labels of a namespace have changed. */
  subscribe(listener: Relabelled): void;
  /** Starts the watch. Resolves when the cache is synced, or when the list is forbidden: then no namespace is known. */
  begin(): Promise<void>;
  close(): Promise<void>;
}

/** With a namespace, it watches only that one. */
export function createNamespaces({ client, clock, namespace, onError }: Watching): Namespaces {
  const reduce = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => ({
    apiVersion,
    kind,
    // All labels are kept, because an administrator may select namespaces by any of them.
    metadata: reducedMetadata(metadata, { prefix: "", labels: "all" }),
  });
  const refused = Promise.withResolvers<void>();
  const failed = (error: unknown) => {
    onError(error);
    if (isForbidden(error)) refused.resolve();
  };
  const fieldSelector = namespace === undefined ? {} : { fieldSelector: `metadata.name=${namespace}` };
  const watching = { client, resource: NAMESPACES, clock, onError: failed, ...fieldSelector };
  const { store, sync, close } = createWatchedStore({ ...watching, reduce });
  let begun = false;
  const listeners: Relabelled[] = [];
  store.subscribe(({ key, before, after }) => {
    if (!begun || isDeepStrictEqual(before?.metadata.labels, after?.metadata.labels)) return;
    for (const relabelled of listeners) relabelled(key, before?.metadata.labels);
  });
  return {
    isTerminating: (name) => store.get(name)?.metadata.deletionTimestamp !== undefined,
    labelsOf(name) {
      const found = store.get(name);
      return found && (found.metadata.labels ?? {});
    },
    uidOf: (name) => store.get(name)?.metadata.uid,
    values: () => store.values(),
    subscribe: (listener) => void listeners.push(listener),
    async begin() {
      // Rejects only when the watch is stopped before its first list.
      const synced = sync().catch(() => {});
      await Promise.race([synced, refused.promise]);
      begun = true;
    },
    close,
  };
}
