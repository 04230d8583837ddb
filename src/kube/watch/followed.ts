import type { Clock } from "../../runtime/clock.ts";
import { isNotFound } from "../client/errors.ts";
import type { KubeClient } from "../client/transport.ts";
import { createDelays } from "../queue/delays.ts";
import { type KubeObject, keyOf, pathOf, type Resource, withoutManagedFields } from "../resource.ts";
import { reducedData, reducedMetadata } from "./reduced.ts";
import { createStore } from "./store.ts";
import { type Watcher, watch } from "./watch.ts";

/**
 * Objects that are read by their names, and no others. One watch sees changes of those that have a label; the others, and those
 * that do not exist, have to be asked for again.
 *
 * Whatever is the reason to read an object again, the pause between two reads of it grows from one second to fifteen, and is
 * short again after a minute of rest.
 */
export interface Followed {
  /** What is known of an object (namespace/name), which is followed from now on; not `known` until it was read once. */
  follow(key: string): { known: boolean; object: KubeObject | undefined };
  get(key: string): KubeObject | undefined;
  /** Follows it no longer; what was known of it. */
  forget(key: string): KubeObject | undefined;
  /** Own writes are believed at once. */
  put(object: KubeObject): void;
  /** All that have the label, whether they are followed or not; metadata only. */
  labelled(): IteratorObject<KubeObject>;
  /** Begins to watch. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

interface Entry {
  known: boolean;
  object: KubeObject | undefined;
  /** Somebody has written to it since it was read. */
  stale: boolean;
  readAt: number;
  pauseMs: number;
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 15_000;
const REST_MS = 60_000;
/** So many are read at the same time, however many are followed. */
const PARALLEL = 4;

export function createFollowed(options: {
  client: KubeClient;
  clock: Clock;
  resource: Resource;
  /** Those with this label, as "true", are watched. */
  label: string;
  /** Is kept however many others there are. */
  finalizer?: string;
  namespace?: string;
  /** An object was read or written, and is absent for the first time or of another version than before. */
  changed: (key: string, before: KubeObject | undefined, after: KubeObject | undefined) => void;
  onError: (error: unknown) => void;
}): Followed {
  const { client, clock, resource, label, namespace, changed, onError } = options;
  const entries = new Map<string, Entry>();
  const due: string[] = [];
  let reading = 0;
  let watcher: Watcher | undefined;
  const delays = createDelays<void>({ clock, due: readWhenDue, merge: () => {} });
  const reduced = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => ({
    apiVersion,
    kind,
    metadata: reducedMetadata(metadata, { prefix: label, labels: [label] }, options.finalizer),
  });
  const store = createStore<KubeObject>({ onListenerError: onError, reduce: reduced });
  store.subscribe(({ key, after }) => {
    const entry = entries.get(key);
    if (!entry || (after && versionOf(after) === versionOf(entry.object))) return;
    entry.stale = true;
    later(key, entry);
  });

  const later = (key: string, { readAt, pauseMs }: Entry) =>
    delays.add(key, Math.max(0, readAt + pauseMs - clock.monotonic()));
  const isLabelled = (object: KubeObject | undefined) => object?.metadata.labels?.[label] === "true";
  const isDue = ({ object, stale }: Entry) => stale || !isLabelled(object);

  function readWhenDue(key: string): void {
    due.push(key);
    readDue();
  }

  function readDue(): void {
    while (reading < PARALLEL && due.length > 0) {
      const key = due.shift() ?? "";
      const entry = entries.get(key);
      if (!entry || !isDue(entry)) continue;
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
      see(key, entry, await fetchObject(client, resource, { namespace: at, name }));
    } catch (error) {
      entry.stale = true;
      onError(error);
    }
    if (isDue(entry)) later(key, entry);
  }

  function see(key: string, entry: Entry, read: KubeObject | undefined): void {
    const { known, object: before } = entry;
    const object = read && { ...reduced(read), data: reducedData(read.data) };
    entry.known = true;
    entry.object = object;
    // A list that does not have it any more tells then that it is gone.
    if (object && isLabelled(object)) store.put(object);
    if (!known || versionOf(before) !== versionOf(object)) changed(key, before, object);
  }

  return {
    follow(key) {
      let entry = entries.get(key);
      if (!entry) {
        entry = { known: false, object: undefined, stale: true, readAt: -Infinity, pauseMs: 0 };
        entries.set(key, entry);
        later(key, entry);
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
      if (entry) see(key, entry, object);
    },
    labelled: store.values,
    async sync() {
      const where = { labelSelector: `${label}=true`, ...(namespace !== undefined && { namespace }) };
      watcher = watch({ client, resource, store, clock, onError, ...where });
      await watcher.synced;
    },
    async close() {
      delays.clear();
      entries.clear();
      await watcher?.stop();
    },
  };
}

const versionOf = (object: KubeObject | undefined): string => object?.metadata.resourceVersion ?? "";

/** Undefined when there is none. */
export async function fetchObject(
  client: KubeClient,
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
