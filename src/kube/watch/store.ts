import { isDeepStrictEqual } from "node:util";
import type { Slot } from "../../runtime/memo.ts";
import { type KubeObject, keyOf } from "../resource.ts";
import { createPacking, type Kept } from "./packing.ts";
import { compareVersions, versionOf } from "./version.ts";

/**
 * A change of one key. Without `before` the object is new, without `after` it is gone; a recreated object has another uid.
 * `last`: the final state of a deleted object, if the watch has shown it. `listed`: the change comes from a full list.
 * `rewound`: that list is of an earlier history than was seen before.
 */
export type Change<T> = { key: string; before?: T; after?: T; last?: T; listed?: true; rewound?: true };

/**
 * The cached objects of one watched resource. It never goes back in time: versions older than the stored one are ignored, and
 * so are late versions of a deleted object.
 */
export interface Store<T extends KubeObject> {
  /**
   * The part of an object that is kept; undefined when the store does not keep it. A watch calls it as soon as an object
   * arrives, so that a full list is never in memory. Returns an object that is already reduced unchanged.
   */
  reduce(object: T): T | undefined;
  get(key: string): T | undefined;
  keys(): IteratorObject<string>;
  values(): IteratorObject<T>;
  readonly size: number;
  /** Stores the object unless a newer version is known. For watch events and for answers to own writes. */
  put(object: T): void;
  /** Removes the object. `object` is its final state, whose resourceVersion is the time of deletion. */
  remove(object: T): void;
  /**
   * Applies a full list as of `resourceVersion`: objects that are not in it are gone, except own writes newer than the list. The
   * server's history was rewound (etcd restored from a backup, with or without a raised revision) if the list is older than what
   * the watch has shown, or if it has an older version of an object although the list itself is not older. Then the list alone
   * counts. Awaits `pause` between two objects.
   */
  replaceAll(objects: Iterable<T>, resourceVersion?: string, pause?: () => Promise<void> | undefined): Promise<void>;
  /** Stores every object again, because `keep` may now return something else for it. Awaits `pause` between two objects. */
  renew(pause: () => Promise<void> | undefined): Promise<void>;
  /** The watch has shown everything up to this version. */
  advance(resourceVersion: string): void;
  /** Whether the watch has shown everything up to this version. Own writes are in the store earlier than that. */
  hasShown(resourceVersion: string): boolean;
  /** Listeners are called in the order of changes, after the store has changed. Returns the function to unsubscribe. */
  subscribe(listener: (change: Change<T>) => void): () => void;
}

export interface StoreOptions<T extends KubeObject> {
  onListenerError?: (error: unknown) => void;
  /** Implements `Store.reduce`; by default the whole object is kept. */
  reduce?: (object: T) => T | undefined;
  /** The part of a reduced object that is stored; default: all of it. */
  keep?: (object: T) => T;
  /**
   * Stores objects as JSON text, with the value of this slot beside it. A later read may return another object with the same
   * content.
   */
  slot?: Slot<T, unknown>;
}

export function createStore<T extends KubeObject>(options: StoreOptions<T> = {}): Store<T> {
  const { keep = (object: T) => object } = options;
  const reduce = reduceOnce(options.reduce ?? ((object: T) => object));
  const { pack, unpack } = createPacking(options.slot);
  const objects = new Map<string, Kept<T>>();
  const { notify, subscribe } = createListeners<Change<T>>(options.onListenerError);
  /** Everything up to this version has been seen. An absent key was deleted: only a version after this one can bring it back. */
  let horizon = "0";
  /** As `horizon`, but raised only by lists and by `advance`. */
  let shown = "0";

  const set = (key: string, arrived: T, how: Pick<Change<T>, "listed" | "rewound"> = {}) => {
    const known = objects.get(key);
    const after = keep(arrived);
    const change = { key, ...(known && { before: unpack(known) }), after, ...how };
    if (change.before) shareSpec(change.before, after);
    objects.set(key, pack(after));
    notify(change);
  };
  const drop = (key: string, known: Kept<T>, how: Pick<Change<T>, "last" | "rewound"> = {}) => {
    const before = unpack(known);
    objects.delete(key);
    notify({ key, before, ...how });
  };
  const asLast = (object: T): Pick<Change<T>, "last"> => {
    const reducedObject = reduce(object);
    return reducedObject ? { last: keep(reducedObject) } : {};
  };
  const raiseHorizon = (version: string) => {
    if (compareVersions(version, horizon) > 0) horizon = version;
  };

  return {
    reduce,
    get(key) {
      const kept = objects.get(key);
      return kept && unpack(kept);
    },
    keys: () => objects.keys(),
    values: () => objects.values().map(unpack),
    get size() {
      return objects.size;
    },
    put(object) {
      const key = keyOf(object);
      const known = objects.get(key);
      const floor = known ? known.version : horizon;
      const version = object.metadata.resourceVersion;
      if (version !== undefined && compareVersions(version, floor) <= 0) return;
      const reducedObject = reduce(object);
      if (reducedObject) set(key, reducedObject);
      else if (known) drop(key, known);
    },
    remove(object) {
      const key = keyOf(object);
      const known = objects.get(key);
      raiseHorizon(versionOf(object));
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
        // A list that is at least as new as a known object cannot contain an older version of it.
        rewound ||= known !== undefined && order < 0 && resourceVersion !== undefined && !isOlderThan(known.version);
        const isApplied = rewound ? order !== 0 : order > 0;
        if (isApplied) set(key, object, { listed: true, ...(rewound && { rewound }) });
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
        // A copy, so that nothing memoized on the object is reused.
        set(key, { ...unpack(known) });
        const wait = pause();
        if (wait) await wait;
      }
    },
    advance(resourceVersion) {
      raiseHorizon(resourceVersion);
      if (compareVersions(resourceVersion, shown) > 0) shown = resourceVersion;
    },
    hasShown: (resourceVersion) => compareVersions(resourceVersion, shown) <= 0,
    subscribe,
  };
}

/** Applies `reduce` once: an object that it has returned is returned unchanged. */
function reduceOnce<T extends KubeObject>(reduce: (object: T) => T | undefined): (object: T) => T | undefined {
  const reduced = new WeakSet<T>();
  return (object) => {
    if (reduced.has(object)) return object;
    const reducedObject = reduce(object);
    if (reducedObject) reduced.add(reducedObject);
    return reducedObject;
  };
}

/** Calls listeners in the order in which they subscribed. An error of one does not keep the others from the change. */
function createListeners<C>(onError?: (error: unknown) => void) {
  const listeners = new Set<(change: C) => void>();
  return {
    notify(change: C): void {
      for (const listener of listeners) {
        try {
          listener(change);
        } catch (error) {
          onError?.(error);
        }
      }
    },
    subscribe(listener: (change: C) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Most changes leave spec unchanged: sharing it keeps what is memoized on it. */
function shareSpec({ spec }: KubeObject, after: KubeObject): void {
  if (spec !== undefined && isDeepStrictEqual(spec, after.spec)) after.spec = spec;
}
