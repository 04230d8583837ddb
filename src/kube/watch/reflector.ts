import type { Clock } from "../../runtime/clock.ts";
import { yieldIfDue } from "../../runtime/time-slices.ts";
import { KubeError } from "../client/errors.ts";
import { parseJson } from "../client/json.ts";
import { errorOfEvent } from "../client/status.ts";
import type { KubeClient } from "../client/transport.ts";
import { apiVersionOf, type KubeObject, keyOf, pathOf, type Resource, withoutManagedFields } from "../resource.ts";
import { linesOf } from "./lines.ts";
import { type ListShell, readList } from "./list.ts";
import { listen } from "./listen.ts";
import type { Store } from "./store.ts";
import { compareVersions } from "./version.ts";

export interface ReflectorOptions<T extends KubeObject> {
  client: KubeClient;
  resource: Resource;
  namespace?: string;
  fieldSelector?: string;
  labelSelector?: string;
  store: Store<T>;
  clock: Clock;
  random?: () => number;
  /** A connection without a byte for this long is closed. The server sends a bookmark about every minute. */
  silenceMs?: number;
}

/**
 * The requests of a watch, one at a time, and their effect on the store, as in client-go's Reflector. Each request rejects when
 * it fails or when the signal aborts; retries are left to the caller.
 */
export interface Reflector {
  readonly path: string;
  /** Whether the latest connection has sent an event. */
  readonly heard: boolean;
  /** Whether the latest connection has lasted long enough to reset the backoff. */
  hasLasted(): boolean;
  /** Replaces the store with a full list and resolves with its resourceVersion. */
  list(): Promise<string>;
  /**
   * Follows one connection until it ends: from this resourceVersion, or from a streaming list that replaces the store. Calls
   * `onVersion` with the resourceVersion of the store after the streaming list, and after each later event. Rejects if the
   * connection ends before it has lasted.
   */
  follow(from: string | undefined, onVersion: (resourceVersion: string) => void): Promise<void>;
  /**
   * Rejects if the server's history was rewound: its watch would send nothing until its resourceVersion passes ours, for minutes
   * or forever.
   */
  checkHistory(known: string): Promise<void>;
}

interface WatchEvent<T> {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  object: T;
}

const INITIAL_EVENTS_END = "k8s.io/initial-events-end";
/** A connection that lasted this long resets the backoff. */
const HEALTHY_MS = 5_000;

export function createReflector<T extends KubeObject>(
  options: ReflectorOptions<T>,
  { signal, onReplaced }: { signal: AbortSignal; onReplaced: () => void },
): Reflector {
  const { client, resource, store, clock, random = Math.random, silenceMs = 180_000 } = options;
  const { fieldSelector, labelSelector } = options;
  const path = pathOf(resource, { namespace: options.namespace });
  let everReplaced = false;
  let connectedAt = 0;
  let heard = false;

  const hasLasted = () => clock.monotonic() - connectedAt >= HEALTHY_MS;

  function open(query: Record<string, string | undefined>): AsyncIterable<Uint8Array> {
    connectedAt = clock.monotonic();
    heard = false;
    const call = { method: "GET", path, query: { ...query, fieldSelector, labelSelector } } as const;
    return listen(client, call, { clock, silenceMs, signal });
  }

  async function replace(objects: Iterable<T>, resourceVersion: string | undefined): Promise<string> {
    if (!resourceVersion) throw failure(path, "Unreadable", "the list has no resourceVersion");
    await store.replaceAll(objects, resourceVersion, () => yieldIfDue(clock));
    everReplaced = true;
    onReplaced();
    return resourceVersion;
  }

  return {
    path,
    get heard() {
      return heard;
    },
    hasLasted,
    async list() {
      const items: T[] = [];
      const apiVersion = apiVersionOf(resource);
      // Only the first list may come from the server's cache: later lists decide what was deleted meanwhile.
      const chunks = open({ resourceVersion: everReplaced ? undefined : "0" });
      const keep = (item: T) => {
        const reduced = store.reduce(withoutManagedFields({ ...item, apiVersion, kind: resource.kind }));
        if (reduced) items.push(reduced);
      };
      const { metadata } = await readList<T>(chunks, keep, `GET ${path}`);
      return replace(items, metadata?.resourceVersion);
    },
    async follow(from, onVersion) {
      const initial = createInitialEvents(store);
      let known = from;
      const chunks = open({
        watch: "true",
        allowWatchBookmarks: "true",
        timeoutSeconds: String(300 + Math.floor(random() * 300)),
        ...(from === undefined
          ? { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" }
          : { resourceVersion: from }),
      });
      for await (const line of linesOf(chunks)) {
        const event = parseJson<WatchEvent<T>>(line, `GET ${path}`);
        if (event.type === "ERROR") throw errorOfEvent(event.object, path);
        heard = true;
        if (known !== undefined) known = applyEvent(store, event, known, path);
        else if (event.type !== "BOOKMARK") initial.add(event);
        else known = await replace(initial.drain(), endOfInitialEvents(event.object, path));
        if (known !== undefined) onVersion(known);
        await yieldIfDue(clock);
      }
      if (known === undefined || !hasLasted()) throw failure(path, "Ended", "the connection ended early");
    },
    async checkHistory(known) {
      heard = false;
      const query = { limit: "1", fieldSelector, labelSelector };
      const { metadata } = await client.request<ListShell>({ method: "GET", path, query, signal });
      if (compareVersions(metadata?.resourceVersion ?? known, known) < 0) throw rewound(path);
    },
  };
}

/** Applies an event after the initial ones, and returns the resourceVersion that the store has then. */
function applyEvent<T extends KubeObject>(store: Store<T>, event: WatchEvent<T>, known: string, path: string): string {
  const { resourceVersion = known } = event.object.metadata;
  if (compareVersions(resourceVersion, known) < 0) throw rewound(path);
  if (event.type === "DELETED") store.remove(withoutManagedFields(event.object));
  else if (event.type !== "BOOKMARK") store.put(withoutManagedFields(event.object));
  store.advance(resourceVersion);
  return resourceVersion;
}

/** The objects of a streaming list until its end, each reduced as it arrives to what the store keeps. */
function createInitialEvents<T extends KubeObject>(store: Store<T>) {
  const objects = new Map<string, T>();
  return {
    add({ type, object }: WatchEvent<T>): void {
      const reduced = type === "DELETED" ? undefined : store.reduce(withoutManagedFields(object));
      if (reduced) objects.set(keyOf(reduced), reduced);
      else objects.delete(keyOf(object));
    },
    /** Yields the objects and removes them here, because this lives as long as the connection and the store may keep less. */
    *drain(): Generator<T> {
      for (const [key, object] of objects) {
        objects.delete(key);
        yield object;
      }
    },
  };
}

/**
 * The resourceVersion of the bookmark that ends the initial events. A bookmark without the annotation comes from an old server
 * without streaming lists.
 */
function endOfInitialEvents({ metadata }: KubeObject, path: string): string | undefined {
  if (metadata.annotations?.[INITIAL_EVENTS_END] !== "true")
    throw failure(path, "Unsupported", "the server does not support streaming lists");
  return metadata.resourceVersion;
}

const failure = (path: string, reason: string, said: string) =>
  new KubeError({ status: 0, reason, message: `GET ${path}: ${said}` });

const rewound = (path: string) => failure(path, "Rewound", "the server's history was rewound");
