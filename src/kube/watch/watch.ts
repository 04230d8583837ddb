import { type Clock, sleep } from "../../runtime/clock.ts";
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
import { isOutdated, isStreamingRefused, waitAfter } from "./watch-failures.ts";

/**
 * The state machine of a watch.
 *
 * streaming-list ──end bookmark──▶ watching ──410, refused, rewound──▶ streaming-list
 *       └──refused──▶ listing ─────────▲
 * Any failure goes to `waiting`, and after the backoff to `next`; `stopped` is final.
 */
export type WatchState =
  | { name: "streaming-list" }
  | { name: "listing" }
  | { name: "watching"; resourceVersion: string }
  | { name: "waiting"; ms: number; next: Active }
  | { name: "stopped" };

type Active = Extract<WatchState, { name: "streaming-list" | "listing" | "watching" }>;

export interface Watcher {
  /** Resolves when the store holds the first full list; rejects when the watch is stopped before. */
  readonly synced: Promise<void>;
  readonly state: WatchState;
  /** Ends the watch and resolves when all of it has ended. The store keeps its objects. */
  stop(): Promise<void>;
}

export interface WatchOptions<T extends KubeObject> {
  client: KubeClient;
  resource: Resource;
  namespace?: string;
  fieldSelector?: string;
  labelSelector?: string;
  store: Store<T>;
  clock: Clock;
  random?: () => number;
  /** Called with every failure; each is retried. */
  onError?: (error: unknown, retryInMs: number) => void;
  /** A connection without a byte for this long is closed. The server sends a bookmark about every minute. */
  silenceMs?: number;
}

interface WatchEvent<T> {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  object: T;
}

/** Yields the values and removes them from the map, which lives as long as the connection: the store may keep less of them. */
function* emptied<T>(map: Map<string, T>): Generator<T> {
  for (const [key, value] of map) {
    map.delete(key);
    yield value;
  }
}

const INITIAL_EVENTS_END = "k8s.io/initial-events-end";
/** A connection that lasted this long resets the backoff. */
const HEALTHY_MS = 5_000;

/**
 * Keeps `store` in sync with the API server until `stop`; no error ends it. While the connection is down, the store keeps its
 * objects.
 */
export function watch<T extends KubeObject>(options: WatchOptions<T>): Watcher {
  const { client, resource, store, clock, random = Math.random, silenceMs = 180_000 } = options;
  const path = pathOf(resource, { namespace: options.namespace });
  const stopping = new AbortController();
  const synced = Promise.withResolvers<void>();
  synced.promise.catch(() => {});
  /** How to relist: streaming until the server refuses it. */
  let relist: Active = { name: "streaming-list" };
  let state: WatchState = relist;
  let everSynced = false;
  let failures = 0;
  let connectedAt = 0;
  /** Whether the latest connection has sent an event. */
  let heard = false;

  async function run(): Promise<void> {
    while (state.name !== "stopped") {
      try {
        state = await step(state);
      } catch (error) {
        state = recover(state, error);
      }
      if (stopping.signal.aborted) state = { name: "stopped" };
    }
    synced.reject(new Error(`the watch of ${path} was stopped before its first list`));
  }

  async function step(now: WatchState): Promise<WatchState> {
    switch (now.name) {
      case "streaming-list":
      case "watching":
        return follow(now);
      case "listing":
        return list();
      case "waiting":
        await sleep(clock, now.ms, stopping.signal);
        return now.next;
      case "stopped":
        return now;
    }
  }

  function open(query: Record<string, string | undefined>): AsyncIterable<Uint8Array> {
    connectedAt = clock.monotonic();
    heard = false;
    const { fieldSelector, labelSelector } = options;
    const call = { method: "GET", path, query: { ...query, fieldSelector, labelSelector } } as const;
    return listen(client, call, { clock, silenceMs, signal: stopping.signal });
  }

  /** Follows one connection until it ends. `state` is updated with each event, so that a retry resumes at the right place. */
  async function follow(from: Extract<Active, { name: "streaming-list" | "watching" }>): Promise<WatchState> {
    const initial = new Map<string, T>();
    if (from.name === "watching" && failures > 0) await throwIfRewound(from.resourceVersion);
    const chunks = open({
      watch: "true",
      allowWatchBookmarks: "true",
      timeoutSeconds: String(300 + Math.floor(random() * 300)),
      ...(from.name === "watching"
        ? { resourceVersion: from.resourceVersion }
        : { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" }),
    });
    for await (const line of linesOf(chunks)) {
      const event = parseJson<WatchEvent<T>>(line, `GET ${path}`);
      if (event.type === "ERROR") throw errorOfEvent(event.object, path);
      heard = true;
      const at: WatchState = state;
      if (at.name === "watching") state = observe(event, at.resourceVersion);
      else if (event.type === "BOOKMARK") state = await complete(event.object, initial);
      else if (event.type === "DELETED") initial.delete(keyOf(event.object));
      else addInitial(event.object, initial);
      await yieldIfDue(clock);
    }
    if (state.name !== "watching" || clock.monotonic() - connectedAt < HEALTHY_MS)
      throw failure("Ended", "the connection ended early");
    failures = 0;
    return state;
  }

  /** Reduces each initial object as it arrives, to what the store keeps. */
  function addInitial(object: T, initial: Map<string, T>): void {
    const reduced = store.reduce(withoutManagedFields(object));
    if (reduced) initial.set(keyOf(reduced), reduced);
    else initial.delete(keyOf(object));
  }

  /**
   * Throws if the server's history was rewound: its watch would send nothing until its resourceVersion passes ours, for minutes
   * or forever. Checked after a failed connection only, because a server is not restored while it serves.
   */
  async function throwIfRewound(known: string): Promise<void> {
    heard = false;
    const { fieldSelector, labelSelector } = options;
    const query = { limit: "1", fieldSelector, labelSelector };
    const { metadata } = await client.request<ListShell>({ method: "GET", path, query, signal: stopping.signal });
    if (compareVersions(metadata?.resourceVersion ?? known, known) < 0) throw rewound();
  }

  /** Applies an event after the initial ones. */
  function observe(event: WatchEvent<T>, known: string): WatchState {
    const { resourceVersion = known } = event.object.metadata;
    if (compareVersions(resourceVersion, known) < 0) throw rewound();
    if (event.type === "DELETED") store.remove(withoutManagedFields(event.object));
    else if (event.type !== "BOOKMARK") store.put(withoutManagedFields(event.object));
    store.advance(resourceVersion);
    return { name: "watching", resourceVersion };
  }

  /**
   * Handles the bookmark that ends the initial events. A bookmark without the annotation comes from an old server without
   * streaming lists.
   */
  async function complete({ metadata }: T, initial: Map<string, T>): Promise<WatchState> {
    if (metadata.annotations?.[INITIAL_EVENTS_END] !== "true")
      throw failure("Unsupported", "the server does not support streaming lists");
    return replace(emptied(initial), metadata.resourceVersion);
  }

  async function list(): Promise<WatchState> {
    const items: T[] = [];
    const apiVersion = apiVersionOf(resource);
    // Only the first list may come from the server's cache: later lists decide what was deleted meanwhile.
    const chunks = open({ resourceVersion: everSynced ? undefined : "0" });
    const keep = (item: T) => {
      const reduced = store.reduce(withoutManagedFields({ ...item, apiVersion, kind: resource.kind }));
      if (reduced) items.push(reduced);
    };
    const { metadata } = await readList<T>(chunks, keep, `GET ${path}`);
    return replace(items, metadata?.resourceVersion);
  }

  async function replace(objects: Iterable<T>, resourceVersion: string | undefined): Promise<WatchState> {
    if (!resourceVersion) throw failure("Unreadable", "the list has no resourceVersion");
    await store.replaceAll(objects, resourceVersion, () => yieldIfDue(clock));
    everSynced = true;
    synced.resolve();
    return { name: "watching", resourceVersion };
  }

  /** The next state after a failure, with backoff. */
  function recover(at: WatchState, error: unknown): WatchState {
    if (stopping.signal.aborted || at.name === "stopped") return { name: "stopped" };
    if (at.name === "waiting") return at.next;
    if (at.name === "streaming-list" && isStreamingRefused(error)) {
      relist = { name: "listing" };
      return relist;
    }
    if (heard && clock.monotonic() - connectedAt >= HEALTHY_MS) failures = 0;
    const ms = waitAfter(failures++, error, random);
    try {
      options.onError?.(error, ms);
    } catch {
      // An error of the callback must not end the watch.
    }
    return { name: "waiting", ms, next: at.name === "watching" && isOutdated(error, heard) ? relist : at };
  }

  const failure = (reason: string, said: string) =>
    new KubeError({ status: 0, reason, message: `GET ${path}: ${said}` });

  const rewound = () => failure("Rewound", "the server's history was rewound");

  const running = run();

  return {
    synced: synced.promise,
    get state() {
      return state;
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
