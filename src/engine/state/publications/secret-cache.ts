import type { KubeClient } from "../../../kube/client/transport.ts";
import { type KubeObject, keyOf } from "../../../kube/resource.ts";
import type { LimitOf } from "../../../kube/watch/age-limits.ts";
import { fetchObject } from "../../../kube/watch/followed.ts";
import { createNamespaceQuota } from "../../../kube/watch/namespace-quota.ts";
import { reducedMetadata } from "../../../kube/watch/reduced.ts";
import { createStore } from "../../../kube/watch/store.ts";
import { compareVersions } from "../../../kube/watch/version.ts";
import { type DataResource, SECRETS } from "../../../kube/write/owned-secret.ts";
import type { Clock } from "../../../runtime/clock.ts";
import { createRecentMap } from "../../../runtime/lru.ts";
import { OWN } from "../names.ts";
import { contentHash, entriesOf, ownerOf } from "./fingerprints.ts";
import { changedEntries, isOutput, type Note } from "./note.ts";

/** The facts that are kept instead of the data of a Secret or ConfigMap. */
interface Facts {
  content: string | undefined;
  entries: Record<string, string>;
  /** The note of this process's own write, while the entries are still as it wrote them. */
  noted: Note | undefined;
}

export interface SecretCacheOptions {
  clock: Clock;
  onError: (error: unknown) => void;
  /** How many of a kind are kept in each namespace; others are read by their names. */
  limit?: LimitOf;
  /** Called once for each kind and namespace that has more. */
  crowded?: (kind: string, namespace: string) => void;
}

const KEPT_MS = 3_600_000;

/** The Secrets or the ConfigMaps, as the watch and reads by name have shown them. */
export function createSecretCache(
  resource: DataResource,
  { clock, onError: onListenerError, limit, crowded }: SecretCacheOptions,
) {
  const quota = createNamespaceQuota(limit?.(resource.kind), (namespace) => crowded?.(resource.kind, namespace));
  const facts = new WeakMap<KubeObject, Facts>();
  /** Results of reads by name that are newer than the watch, or that it does not show. */
  const reads = createRecentMap<{ object: KubeObject | undefined }>(clock, KEPT_MS);
  /** Notes of the last writes, for a Secret that loses label and note before status tells of its key. */
  const written = createRecentMap<{ noted: Note }>(clock, KEPT_MS);
  /** The object with facts instead of its data; undefined for one that Mooring has not written, whatever its label says. */
  const strip = (object: KubeObject): KubeObject | undefined => {
    const owner = ownerOf(object);
    if (!owner || facts.has(object)) return owner && object;
    const { apiVersion, kind } = object;
    const metadata = { ...reducedMetadata(object.metadata, OWN), ownerReferences: [owner] };
    const reduced = { apiVersion, kind, metadata };
    const hasKey = resource === SECRETS && !isOutput(object);
    const content = isOutput(object) ? contentHash(object) : undefined;
    facts.set(reduced, { content, entries: hasKey ? entriesOf(object) : {}, noted: undefined });
    return reduced;
  };
  const reduce = (object: KubeObject) => (ownerOf(object) && quota.admit(keyOf(object)) ? strip(object) : undefined);
  const store = createStore<KubeObject>({ onListenerError, reduce, keep: (object) => keep(object) });
  const get = (key: string): KubeObject | undefined => {
    const [read, watched] = [reads.get(key), store.get(key)];
    return read && (!read.object || !watched || isNewer(read.object, watched)) ? read.object : watched;
  };
  /** Adds the note of this process's own write. */
  function keep(reduced: KubeObject, noted?: Note): KubeObject {
    const { content, entries } = facts.get(reduced) ?? { content: undefined, entries: {} };
    const key = keyOf(reduced);
    const before = facts.get(get(key) ?? reduced)?.noted ?? written.get(key)?.noted;
    const unchanged = before && changedEntries(before, entries).length === 0 ? before : undefined;
    facts.set(reduced, { content, entries, noted: noted ?? unchanged });
    return reduced;
  }
  store.subscribe(({ key, after, last }) => {
    if (!after) quota.leave(key);
    const read = reads.get(key);
    // A read that found nothing stays valid until the watch shows the Secret: a list does not show one without the label.
    const isOver = read?.object ? isNewer(after ?? last ?? read.object, read.object) : after !== undefined;
    if (isOver || (!after && !last)) reads.delete(key);
  });
  return {
    resource,
    store,
    get,
    factsOf: (object: KubeObject): Facts | undefined => facts.get(object),
    readAt: (key: string): number | undefined => reads.get(key)?.at,
    async read(client: KubeClient, namespace: string | undefined, name: string): Promise<KubeObject | undefined> {
      const key = keyOf({ metadata: { ...(namespace !== undefined && { namespace }), name } });
      const before = store.get(key);
      const found = await fetchObject(client, resource, { namespace, name });
      const reduced = found && strip(found);
      // The watch may have shown a newer one meanwhile.
      if (found || store.get(key) === before) reads.set(key, { object: reduced && keep(reduced) });
      return found;
    },
    put(object: KubeObject, noted?: Note): void {
      const key = keyOf(object);
      if (noted) written.set(key, { noted });
      const reduced = strip(object);
      const kept = reduced && keep(reduced, noted);
      store.put(kept ?? object);
      if (!kept) return;
      const stored = store.get(key);
      const known = facts.get(kept);
      // When the label was lost, the watch has shown a deletion, which the store takes for newer.
      if (!stored || isNewer(kept, stored)) reads.set(key, { object: kept });
      else if (known && !isNewer(stored, kept)) facts.set(stored, known);
    },
  };
}

const isNewer = (one: KubeObject, other: KubeObject): boolean =>
  compareVersions(one.metadata.resourceVersion ?? "", other.metadata.resourceVersion ?? "") > 0;
