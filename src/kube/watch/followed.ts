import { isNotFound } from "../client/errors.ts";
import type { KubeClient } from "../client/transport.ts";
import { createDelays } from "../queue/delays.ts";
import { type KubeObject, keyOf, pathOf, type Resource, withoutManagedFields } from "../resource.ts";
import { reducedData, reducedMetadata } from "./reduced.ts";
import { createWatchedStore, type Watching } from "./watch.ts";

/**
 * A cache of objects that are read by name. One watch sees changes of objects with a label. Objects without it, and objects
 * that do not exist, are polled.
 *
 * The pause between two reads of an object grows from one second to fifteen, whatever the reason to read it, and starts again
 * at one second after a minute without a read.
 */
export interface Followed {
  /** Returns the cached object (namespace/name) and starts to follow it. `known` is false until the first read. */
  follow(key: string): { known: boolean; object: KubeObject | undefined };
  get(key: string): KubeObject | undefined;
  /** Stops following the object and returns what was cached. */
  forget(key: string): KubeObject | undefined;
  /** Caches the answer to an own write. */
  put(object: KubeObject): void;
  /** All objects with the label, followed or not; metadata only. */
  labelled(): IteratorObject<KubeObject>;
  /** Starts the watch. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

interface Entry {
  known: boolean;
  object: KubeObject | undefined;
  /** The object has changed since it was read. */
  stale: boolean;
  readAt: number;
  pauseMs: number;
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 15_000;
/** After this time without a read, the pause starts again at the shortest. */
const REST_MS = 60_000;
/** The maximum number of concurrent reads. */
const PARALLEL = 4;

interface Options extends Watching {
  resource: Resource;
  /** Objects with this label set to "true" are watched. */
  label: string;
  /** This finalizer is kept even if the list of finalizers is cut. */
  finalizer?: string;
  /** Called after the first read of an object, and after each read or write that shows another version. */
  changed: (key: string, before: KubeObject | undefined, after: KubeObject | undefined) => void;
}

export function createFollowed(options: Options): Followed {
  const { client, clock, resource, label, namespace, changed, onError } = options;
  const entries = new Map<string, Entry>();
  const due: string[] = [];
  let reading = 0;
  const delays = createDelays<void>({ clock, due: readWhenDue, merge: () => {} });
  const reduced = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => ({
    apiVersion,
    kind,
    metadata: reducedMetadata(metadata, { prefix: label, labels: [label] }, options.finalizer),
  });
  const where = { labelSelector: `${label}=true`, ...(namespace !== undefined && { namespace }) };
  const { store, ...watched } = createWatchedStore({ client, clock, resource, onError, reduce: reduced, ...where });
  store.subscribe(({ key, after }) => {
    const entry = entries.get(key);
    if (!entry || (after && versionOf(after) === versionOf(entry.object))) return;
    entry.stale = true;
    scheduleRead(key, entry);
  });

  const scheduleRead = (key: string, { readAt, pauseMs }: Entry) =>
    delays.add(key, Math.max(0, readAt + pauseMs - clock.monotonic()));
  const isLabelled = (object: KubeObject | undefined) => object?.metadata.labels?.[label] === "true";
  const needsRead = ({ object, stale }: Entry) => stale || !isLabelled(object);

  function readWhenDue(key: string): void {
    due.push(key);
    readDue();
  }

  function readDue(): void {
    while (reading < PARALLEL && due.length > 0) {
      const key = due.shift() ?? "";
      const entry = entries.get(key);
      if (!entry || !needsRead(entry)) continue;
      reading++;
      void read(key, entry).finally(() => {
        reading--;
        readDue();
      });
    }
  }

  async function read(key: string, entry: Entry): Promise<void> {
    const now = clock.monotonic();
    entry.pauseMs = now - entry.readAt >= REST_MS ? FIRST_PAUSE_MS : Math.min(2 * entry.pauseMs, LONGEST_PAUSE_MS);
    entry.readAt = now;
    entry.stale = false;
    try {
      const [at, name = ""] = key.split("/");
      update(key, entry, await fetchObject(client, resource, { namespace: at, name }));
    } catch (error) {
      entry.stale = true;
      onError(error);
    }
    if (needsRead(entry)) scheduleRead(key, entry);
  }

  function update(key: string, entry: Entry, read: KubeObject | undefined): void {
    const { known, object: before } = entry;
    const object = read && { ...reduced(read), data: reducedData(read.data) };
    entry.known = true;
    entry.object = object;
    // In the store, a later list without the object shows that it is gone.
    if (object && isLabelled(object)) store.put(object);
    if (!known || versionOf(before) !== versionOf(object)) changed(key, before, object);
  }

  return {
    follow(key) {
      let entry = entries.get(key);
      if (!entry) {
        entry = { known: false, object: undefined, stale: true, readAt: -Infinity, pauseMs: 0 };
        entries.set(key, entry);
        scheduleRead(key, entry);
      }
      return entry;
    },
    get: (key) => entries.get(key)?.object,
    forget(key) {
      const object = entries.get(key)?.object;
      entries.delete(key);
      return object;
    },
    put(object) {
      const key = keyOf(object);
      const entry = entries.get(key);
      if (entry) update(key, entry, object);
    },
    labelled: store.values,
    sync: watched.sync,
    async close() {
      delays.clear();
      entries.clear();
      await watched.close();
    },
  };
}

const versionOf = (object: KubeObject | undefined): string => object?.metadata.resourceVersion ?? "";

/** Reads an object; undefined when it does not exist. */
export async function fetchObject(
  client: Pick<KubeClient, "request">,
  resource: Resource,
  at: { namespace?: string | undefined; name: string },
): Promise<KubeObject | undefined> {
  try {
    return withoutManagedFields(await client.request<KubeObject>({ method: "GET", path: pathOf(resource, at) }));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
