import { createRecentMap } from "../../runtime/lru.ts";
import { type KubeObject, keyOf } from "../resource.ts";
import { fetchObject } from "../watch/followed.ts";
import { createNamespaceQuota } from "../watch/namespace-quota.ts";
import { compareVersions, versionOf } from "../watch/version.ts";
import { createWatchedStore, type Watching } from "../watch/watch.ts";
import type { DataResource } from "./owned-secret.ts";

/** `noted`: the note of this process's own write, while the object is still as it wrote it. */
type Noted<Facts, Note> = Facts & { noted: Note | undefined };

const KEPT_MS = 3_600_000;

interface Options<Facts, Note> extends Watching {
  resource: DataResource;
  labelSelector: string;
  /** Whether it is an object of this program. No other is kept, whatever its label says. */
  isOwn(object: KubeObject): boolean;
  /** The object as it is kept, and the facts. */
  reduce(object: KubeObject): { reduced: KubeObject; facts: Facts };
  isAsNoted(note: Note, facts: Facts): boolean;
  /** How many are kept in each namespace; others are read by their names. */
  most?: number | undefined;
  crowded: (namespace: string) => void;
}

/**
 * Objects that this process writes, as the watch and reads by name have shown them, with facts in place of their content. A read
 * counts where it is newer than the watch, or where the watch does not show the object: then its label was lost.
 */
export function createWrittenCache<Facts extends object, Note>(options: Options<Facts, Note>) {
  const { client, clock, resource, isOwn, isAsNoted, most, crowded, ...watching } = options;
  const quota = createNamespaceQuota(most, crowded);
  const facts = new WeakMap<KubeObject, Noted<Facts, Note>>();
  /** Results of reads by name that are newer than the watch, or that it does not show. */
  const reads = createRecentMap<{ object: KubeObject | undefined }>(clock, KEPT_MS);
  /** Notes of the last writes, for an object that loses label and note before anything else tells of them. */
  const written = createRecentMap<{ noted: Note }>(clock, KEPT_MS);
  const strip = (object: KubeObject): KubeObject | undefined => {
    if (!isOwn(object)) return undefined;
    if (facts.has(object)) return object;
    const found = options.reduce(object);
    facts.set(found.reduced, { ...found.facts, noted: undefined });
    return found.reduced;
  };
  const reduce = (object: KubeObject) => (isOwn(object) && quota.admit(keyOf(object)) ? strip(object) : undefined);
  const keepArrived = (reduced: KubeObject) => keep(reduced);
  const watched = createWatchedStore({ ...watching, client, clock, resource, reduce, keep: keepArrived });
  const { store } = watched;
  const get = (key: string): KubeObject | undefined => {
    const [read, shown] = [reads.get(key), store.get(key)];
    return read && (!read.object || !shown || isNewer(read.object, shown)) ? read.object : shown;
  };
  /** Adds the note of this process's own write. */
  function keep(reduced: KubeObject, noted?: Note): KubeObject {
    const known = facts.get(reduced);
    if (!known) return reduced;
    const key = keyOf(reduced);
    const before = facts.get(get(key) ?? reduced)?.noted ?? written.get(key)?.noted;
    const unchanged = before && isAsNoted(before, known) ? before : undefined;
    facts.set(reduced, { ...known, noted: noted ?? unchanged });
    return reduced;
  }
  store.subscribe(({ key, after, last }) => {
    if (!after) quota.leave(key);
    const read = reads.get(key);
    // A read that found nothing stays valid until the watch shows the object: a list does not show one without the label.
    const isOver = read?.object ? isNewer(after ?? last ?? read.object, read.object) : after !== undefined;
    if (isOver || (!after && !last)) reads.delete(key);
  });
  return {
    ...watched,
    resource,
    get,
    factsOf: (object: KubeObject): Noted<Facts, Note> | undefined => facts.get(object),
    readAt: (key: string): number | undefined => reads.get(key)?.at,
    async read(namespace: string | undefined, name: string): Promise<KubeObject | undefined> {
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

const isNewer = (one: KubeObject, other: KubeObject): boolean => compareVersions(versionOf(one), versionOf(other)) > 0;
