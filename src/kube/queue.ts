import type { Clock } from "../clock.ts";
import { createDelays } from "./delays.ts";

/** Ready keys are handed out in this order, first come first served within each. */
export type Priority = "people" | "normal" | "background";

/** The numbers behind the `workqueue_*` metrics; times in seconds. */
export interface QueueObserver {
  depth?(ready: number): void;
  added?(): void;
  /** A key was taken after waiting so long. */
  waited?(seconds: number): void;
  /** A key was done after being processed so long. */
  worked?(seconds: number): void;
  retried?(): void;
}

/**
 * client-go's work queue: a key waits at most once, is never processed twice at the same time, and one that is added
 * while being processed is handed out again afterwards.
 */
export interface Queue {
  add(key: string, priority?: Priority): void;
  /** Adds the key later. Of several times asked for the earliest counts. */
  addAfter(key: string, ms: number, priority?: Priority): void;
  /** Adds the key after a delay that doubles with each call until `forget`; returns that delay. */
  addRateLimited(key: string, priority?: Priority): number;
  /** The key did well: its next delay is the shortest again. */
  forget(key: string): void;
  /** How often the key was rate limited since it last did well. */
  retries(key: string): number;
  /** The next key; undefined when the queue is shut down and empty, or the signal aborts. Every key taken needs `done`. */
  take(signal: AbortSignal): Promise<string | undefined>;
  done(key: string): void;
  /** Keys that are ready. */
  readonly depth: number;
  /** Keys that wait for their time. */
  readonly delayed: number;
  /** Seconds each key now in work has been so: for `workqueue_unfinished_work_seconds` and its longest. */
  inWork(): number[];
  /** Takes nothing new. What is ready is still handed out; delayed keys are dropped. */
  shutdown(): void;
}

const ORDER = ["people", "normal", "background"] as const satisfies readonly Priority[];

const higher = (a: Priority, b: Priority): Priority => (ORDER.indexOf(a) <= ORDER.indexOf(b) ? a : b);

export function createQueue(options: {
  clock: Clock;
  random?: () => number;
  baseMs?: number;
  maxMs?: number;
  observe?: QueueObserver;
}): Queue {
  const { clock, random = Math.random, baseMs = 1000, maxMs = 300_000, observe } = options;
  const ready: Record<Priority, Set<string>> = { people: new Set(), normal: new Set(), background: new Set() };
  /** Keys that need processing: each is ready, or in work and asked for again. */
  const dirty = new Map<string, { priority: Priority; since: number }>();
  const processing = new Map<string, number>();
  const failures = new Map<string, number>();
  const takers = new Set<(key: string | undefined) => void>();
  let closed = false;

  const depth = () => ORDER.reduce((sum, priority) => sum + ready[priority].size, 0);

  function next(): string | undefined {
    for (const priority of ORDER) {
      for (const key of ready[priority]) {
        const now = clock.monotonic();
        observe?.waited?.((now - (dirty.get(key)?.since ?? now)) / 1000);
        ready[priority].delete(key);
        dirty.delete(key);
        processing.set(key, now);
        observe?.depth?.(depth());
        return key;
      }
    }
    return undefined;
  }

  function hand(): void {
    for (const taker of takers) {
      const key = next();
      if (key === undefined && !closed) return;
      takers.delete(taker);
      taker(key);
    }
  }

  function push(key: string, priority: Priority): void {
    ready[priority].add(key);
    observe?.depth?.(depth());
    hand();
  }

  function add(key: string, priority: Priority = "normal"): void {
    if (closed) return;
    const asked = dirty.get(key);
    const wanted = asked ? higher(asked.priority, priority) : priority;
    if (asked?.priority === wanted) return;
    if (!asked) observe?.added?.();
    dirty.set(key, { priority: wanted, since: asked?.since ?? clock.monotonic() });
    if (processing.has(key)) return;
    if (asked) ready[asked.priority].delete(key);
    push(key, wanted);
  }

  const delays = createDelays<Priority>({ clock, due: add, merge: higher });

  function addAfter(key: string, ms: number, priority: Priority = "normal"): void {
    if (closed) return;
    observe?.retried?.();
    if (ms <= 0) add(key, priority);
    else delays.add(key, ms, priority);
  }

  return {
    add,
    addAfter,
    addRateLimited(key, priority) {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      const ms = Math.min(maxMs, baseMs * 2 ** count) * (0.5 + random() / 2);
      addAfter(key, ms, priority);
      return ms;
    },
    forget: (key) => void failures.delete(key),
    retries: (key) => failures.get(key) ?? 0,
    take(signal) {
      if (signal.aborted) return Promise.resolve(undefined);
      const key = next();
      if (key !== undefined || closed) return Promise.resolve(key);
      return new Promise((resolve) => {
        const taker = (taken: string | undefined) => {
          signal.removeEventListener("abort", leave);
          resolve(taken);
        };
        const leave = () => {
          takers.delete(taker);
          resolve(undefined);
        };
        takers.add(taker);
        signal.addEventListener("abort", leave, { once: true });
      });
    },
    done(key) {
      const since = processing.get(key);
      if (since === undefined) return;
      processing.delete(key);
      observe?.worked?.((clock.monotonic() - since) / 1000);
      const asked = dirty.get(key);
      if (asked) push(key, asked.priority);
    },
    get depth() {
      return depth();
    },
    get delayed() {
      return delays.size;
    },
    inWork: () => [...processing.values()].map((since) => (clock.monotonic() - since) / 1000),
    shutdown() {
      closed = true;
      delays.clear();
      hand();
    },
  };
}
