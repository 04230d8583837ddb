import { isDeepStrictEqual } from "node:util";
import { createLazyJson, type LazyJson } from "../../runtime/lazy-json.ts";
import type { Slot } from "../../runtime/memo.ts";
import { type KubeObject, keyOf } from "../resource.ts";
import { compareVersions } from "./version.ts";

/**
 * What became of one key. Without `before` it is new, without `after` it is gone; a replaced object differs in uid.
 * `last` is how an object went, where the watch has shown that. `listed`: a complete list told of it, `rewound`: one of an earlier
 * history than was seen before.
 */
export type Change<T> = { key: string; before?: T; after?: T; last?: T; listed?: true; rewound?: true };

/**
 * The objects of one watched resource as last seen. It never goes back in time: older versions than the stored one
 * are ignored, and so are versions of a deleted object that arrive late.
 */
export interface Store<T extends KubeObject> {
  /**
   * What is kept of an object; undefined when it is nothing to this store. A watch asks as soon as an object arrives, so that a
   * list is never in memory as a whole. The same object for one that is reduced already.
   */
  reduce(object: T): T | undefined;
  get(key: string): T | undefined;
  keys(): IteratorObject<string>;
  values(): IteratorObject<T>;
  readonly size: number;
  /** Keeps the object unless a newer state is known. For watch events and for answers to own writes alike. */
  put(object: T): void;
  /** Drops the object; `object` is its last state, whose resourceVersion is the time of deletion. */
  remove(object: T): void;
  /**
   * Takes a complete list as of `resourceVersion`: what is not in it is gone, except for own writes newer than the list.
   * A list older than what the watch has already shown, or one that has an older version of an object than it should, means
   * the server's history was rewound (etcd restored from a backup, its revision raised or not): then the list alone counts.
   * Between two objects it waits for `pause`, where that wants it.
   */
  replaceAll(objects: Iterable<T>, resourceVersion?: string, pause?: () => Promise<void> | undefined): Promise<void>;
  /** Takes in every object once more as it is, because `keep` says something else of it by now. Waits for `pause` like `replaceAll`. */
  renew(pause: () => Promise<void> | undefined): Promise<void>;
  /** The watch has shown everything up to here. */
  advance(resourceVersion: string): void;
  /** Whether the watch has shown everything up to here: own writes are in the store before that. */
  hasShown(resourceVersion: string): boolean;
  /** Listeners are called in the order of changes, after the store has changed. Returns the way to unsubscribe. */
  subscribe(listener: (change: Change<T>) => void): () => void;
}

/** An object as it is stored. */
type Kept<T> = { readonly version: string } & ((LazyJson & { readonly known: unknown }) | { readonly object: T });

export function createStore<T extends KubeObject>(
  options: {
    onListenerError?: (error: unknown) => void;
    /** What `Store.reduce` says; default: all. */
    reduce?: (object: T) => T | undefined;
    /** What is kept of a reduced object when it gets into the store; default: all. */
    keep?: (object: T) => T;
    /**
     * Keeps objects as text, and beside it what this slot knows of them: whoever asks for one later may get another object that
     * says the same.
     */
    packed?: Slot<T, unknown>;
  } = {},
): Store<T> {
  const { keep = (object: T) => object, packed } = options;
  const reducing = options.reduce ?? ((object: T) => object);
  const reduced = new WeakSet<T>();
  const reduce = (object: T): T | undefined => {
    if (reduced.has(object)) return object;
    const less = reducing(object);
    if (less) reduced.add(less);
    return less;
  };
  const objects = new Map<string, Kept<T>>();
  const unpacked = createLazyJson<T>();
  const objectOf = (kept: Kept<T>): T => {
    if ("object" in kept) return kept.object;
    const object = unpacked.get(kept);
    if (packed && packed.get(object) === undefined) packed.set(object, kept.known);
    return object;
  };
  const listeners = new Set<(change: Change<T>) => void>();
  /** Everything up to this version has been seen: a key that is absent was deleted, unless its version is newer. */
  let horizon = "0";
  /** The same by the word of the watch alone. */
  let shown = "0";

  const notify = (change: Change<T>) => {
    for (const listener of listeners) {
      try {
        listener(change);
      } catch (error) {
        options.onListenerError?.(error);
      }
    }
  };
  const set = (key: string, arrived: T, how: Pick<Change<T>, "listed" | "rewound"> = {}) => {
    const known = objects.get(key);
    const after = keep(arrived);
    const change = { key, ...(known && { before: objectOf(known) }), after, ...how };
    if (change.before) shareSpec(change.before, after);
    const version = versionOf(after);
    const kept: Kept<T> = packed
      ? { version, text: JSON.stringify(after), known: packed.get(after) }
      : { version, object: after };
    objects.set(key, kept);
    if ("text" in kept) unpacked.remember(kept, after);
    notify(change);
  };
  const drop = (key: string, known: Kept<T>, how: Pick<Change<T>, "last" | "rewound"> = {}) => {
    const before = objectOf(known);
    objects.delete(key);
    notify({ key, before, ...how });
  };
  const asLast = (object: T): Pick<Change<T>, "last"> => {
    const less = reduce(object);
    return less ? { last: keep(less) } : {};
  };
  const advance = (version: string) => {
    if (compareVersions(version, horizon) > 0) horizon = version;
  };

  return {
    reduce,
    get(key) {
      const kept = objects.get(key);
      return kept && objectOf(kept);
    },
    keys: () => objects.keys(),
    values: () => objects.values().map(objectOf),
    get size() {
      return objects.size;
    },
    put(object) {
      const key = keyOf(object);
      const known = objects.get(key);
      const floor = known ? known.version : horizon;
      const version = object.metadata.resourceVersion;
      if (version !== undefined && compareVersions(version, floor) <= 0) return;
      const less = reduce(object);
      if (less) set(key, less);
      else if (known) drop(key, known);
    },
    remove(object) {
      const key = keyOf(object);
      const known = objects.get(key);
      advance(versionOf(object));
      if (known && compareVersions(known.version, versionOf(object)) <= 0) drop(key, known, asLast(object));
    },
    async replaceAll(list, resourceVersion, pause) {
      const isOlderThan = (version: string) =>
        resourceVersion !== undefined && compareVersions(resourceVersion, version) < 0;
      let rewound = isOlderThan(horizon);
      const present = new Set<string>();
      for (const arrived of list) {
        const object = reduce(arrived);
        if (!object) continue;
        const key = keyOf(object);
        present.add(key);
        const known = objects.get(key);
        const order = known ? compareVersions(versionOf(object), known.version) : 1;
        // A list that is as new as what is known has nothing older in it.
        rewound ||= known !== undefined && order < 0 && resourceVersion !== undefined && !isOlderThan(known.version);
        if (rewound ? order !== 0 : order > 0) set(key, object, { listed: true, ...(rewound && { rewound }) });
        const wait = pause?.();
        if (wait) await wait;
      }
      for (const [key, known] of objects) {
        if (!present.has(key) && (rewound || !isOlderThan(known.version))) drop(key, known, rewound ? { rewound } : {});
        const wait = pause?.();
        if (wait) await wait;
      }
      if (resourceVersion !== undefined) horizon = shown = resourceVersion;
    },
    async renew(pause) {
      for (const [key, known] of objects) {
        // A copy, of which nothing is known yet.
        set(key, { ...objectOf(known) });
        const wait = pause();
        if (wait) await wait;
      }
    },
    advance(resourceVersion) {
      advance(resourceVersion);
      if (compareVersions(resourceVersion, shown) > 0) shown = resourceVersion;
    },
    hasShown: (resourceVersion) => compareVersions(resourceVersion, shown) <= 0,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Most changes leave spec as it is: what was read out of it is known. */
function shareSpec({ spec }: KubeObject, after: KubeObject): void {
  if (spec !== undefined && isDeepStrictEqual(spec, after.spec)) after.spec = spec;
}

const versionOf = (object: KubeObject): string => object.metadata.resourceVersion ?? "";
