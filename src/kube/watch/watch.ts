import { sleep } from "../../runtime/clock.ts";
import type { KubeObject } from "../resource.ts";
import { createReflector, type ReflectorOptions } from "./reflector.ts";
import { createStore, type StoreOptions } from "./store.ts";
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

export interface WatchOptions<T extends KubeObject> extends ReflectorOptions<T> {
  /** Called with every failure; each is retried. */
  onError?: (error: unknown, retryInMs?: number) => void;
}

/** The needs of every cache with a watch of its own. Without a namespace, it watches all. */
export interface Watching extends Pick<ReflectorOptions<KubeObject>, "client" | "clock" | "namespace"> {
  onError: (error: unknown, retryInMs?: number) => void;
}

/**
 * Keeps `store` in sync with the API server until `stop`; no error ends it. While the connection is down, the store keeps its
 * objects.
 */
export function watch<T extends KubeObject>(options: WatchOptions<T>): Watcher {
  const { clock, random = Math.random } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const synced = Promise.withResolvers<void>();
  synced.promise.catch(() => {});
  const reflector = createReflector(options, { signal, onReplaced: synced.resolve });
  /** How to relist: streaming until the server refuses it. */
  let relist: Active = { name: "streaming-list" };
  let state: WatchState = relist;
  let failures = 0;

  async function run(): Promise<void> {
    while (state.name !== "stopped") {
      try {
        state = await step(state);
      } catch (error) {
        state = recover(state, error);
      }
      if (signal.aborted) state = { name: "stopped" };
    }
    synced.reject(new Error(`the watch of ${reflector.path} was stopped before its first list`));
  }

  async function step(now: WatchState): Promise<WatchState> {
    switch (now.name) {
      case "streaming-list":
        return follow(undefined);
      case "watching":
        return follow(now.resourceVersion);
      case "listing":
        return watching(await reflector.list());
      case "waiting":
        await sleep(clock, now.ms, signal);
        return now.next;
      case "stopped":
        return now;
    }
  }

  /** Follows one connection until it ends. `state` is updated with each event, so that a retry resumes at the right place. */
  async function follow(from: string | undefined): Promise<WatchState> {
    // Only after a failed connection, because a server is not restored while it serves.
    if (from !== undefined && failures > 0) await reflector.checkHistory(from);
    await reflector.follow(from, (resourceVersion) => {
      state = watching(resourceVersion);
    });
    failures = 0;
    return state;
  }

  /** The next state after a failure, with backoff. */
  function recover(at: WatchState, error: unknown): WatchState {
    if (signal.aborted || at.name === "stopped") return { name: "stopped" };
    if (at.name === "waiting") return at.next;
    if (at.name === "streaming-list" && isStreamingRefused(error)) {
      relist = { name: "listing" };
      return relist;
    }
    if (reflector.heard && reflector.hasLasted()) failures = 0;
    const ms = waitAfter(failures++, error, random);
    try {
      options.onError?.(error, ms);
    } catch {
      // An error of the callback must not end the watch.
    }
    return { name: "waiting", ms, next: at.name === "watching" && isOutdated(error, reflector.heard) ? relist : at };
  }

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

/** A store that a watch keeps in sync. `sync` begins the watch, and resolves with the first full list. */
export function createWatchedStore({
  reduce,
  keep,
  ...options
}: Omit<WatchOptions<KubeObject>, "store"> & Pick<StoreOptions<KubeObject>, "reduce" | "keep">) {
  const onListenerError = (error: unknown) => options.onError?.(error);
  const store = createStore<KubeObject>({ onListenerError, ...(reduce && { reduce }), ...(keep && { keep }) });
  let watcher: Watcher | undefined;
  return {
    store,
    async sync(): Promise<void> {
      watcher = watch({ ...options, store });
      await watcher.synced;
    },
    close: async () => watcher?.stop(),
  };
}

const watching = (resourceVersion: string): WatchState => ({ name: "watching", resourceVersion });
