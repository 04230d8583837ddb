import type { Clock } from "../../runtime/clock.ts";
import { createLanes, type Lane } from "./lanes.ts";
import { createTally, roomOf } from "./shares.ts";

/**
 * Ready keys of a lane are handed out in this order, first in first out within a priority: objects that people have edited, then
 * work in progress, because other objects may wait for it, then new objects, then resyncs.
 */
export type Priority = "people" | "normal" | "new" | "background";

const ORDER = ["people", "normal", "new", "background"] as const satisfies readonly Priority[];

export const higher = (a: Priority, b: Priority): Priority => (ORDER.indexOf(a) <= ORDER.indexOf(b) ? a : b);

/** The numbers behind the `workqueue_*` metrics; times in seconds. */
export interface QueueObserver {
  depth?(ready: number): void;
  added?(): void;
  /** A key was taken after it waited this long. */
  waited?(seconds: number): void;
  /** A key was done after it was processed this long. */
  worked?(seconds: number): void;
  retried?(): void;
}

/** The part of a `Queue` that knows no delays: keys are ready, in process, or both. */
export interface ReadyQueue {
  add(key: string, priority?: Priority): void;
  /** The next key; undefined when the queue is shut down and empty, or the signal aborts. Every key taken needs `done`. */
  take(signal: AbortSignal): Promise<string | undefined>;
  done(key: string): void;
  /** Keys that are ready. */
  readonly depth: number;
  /** Seconds that the oldest ready key has been ready; 0 when there is none. */
  oldest(): number;
  /** Seconds that each key has been in process: for `workqueue_unfinished_work_seconds` and the longest running processor. */
  inWork(): number[];
  /** Accepts no new keys. Ready keys are still handed out. */
  shutdown(): void;
}

export interface ReadyQueueOptions {
  clock: Clock;
  observe?: QueueObserver;
  /** The lane of a key, read when the key becomes ready. */
  laneOf?: (key: string) => Lane;
  /** The number of concurrent reconciles, of which each lane gets its share. */
  workers?: number;
}

/** A key that needs processing. */
interface Entry {
  readonly key: string;
  readonly priority: Priority;
  readonly since: number;
  /** Set when the key becomes ready. */
  lane?: Lane;
}

const NO_LANE: Lane = { account: "", namespace: "", shared: false };

/** `onTaken` is called with each key that is taken. */
export function createReadyQueue(options: ReadyQueueOptions, onTaken: (key: string) => void): ReadyQueue {
  const { clock, observe, laneOf = () => NO_LANE, workers = Number.POSITIVE_INFINITY } = options;
  const ready = createLanes<Entry>();
  /** Keys that need processing: ready, or in process and added again. */
  const dirty = new Map<string, Entry>();
  const processing = new Map<string, { since: number; lane: Lane }>();
  /** Counts of ready keys (`waiting`) and of keys in process (`held`). */
  const waiting = createTally();
  const held = createTally();
  const takers = new Set<Taker>();
  let closed = false;

  const roomNow = (lane: Lane) => (closed ? "free" : roomOf(lane, workers, held, waiting));
  const isCurrent = (entry: Entry) => dirty.get(entry.key) === entry;

  /** A key starts or stops waiting in its lane. */
  function countReady(lane: Lane, by: 1 | -1): void {
    waiting.add(lane, by);
    observe?.depth?.(waiting.total);
  }

  function next(): string | undefined {
    const entry = ready.take(roomNow, isCurrent);
    if (!entry) return undefined;
    const { key, lane = NO_LANE } = entry;
    const now = clock.monotonic();
    observe?.waited?.((now - entry.since) / 1000);
    dirty.delete(key);
    onTaken(key);
    processing.set(key, { since: now, lane });
    held.add(lane, 1);
    countReady(lane, -1);
    return key;
  }

  function handOut(): void {
    for (const taker of takers) {
      const key = next();
      if (key === undefined && !closed) return;
      takers.delete(taker);
      taker(key);
    }
  }

  function push(entry: Entry): void {
    entry.lane = laneOf(entry.key);
    ready.add(entry.lane, entry, ORDER.indexOf(entry.priority));
    countReady(entry.lane, 1);
    handOut();
  }

  return {
    add(key, priority = "normal") {
      if (closed) return;
      const entry = dirty.get(key);
      const highest = entry ? higher(entry.priority, priority) : priority;
      if (entry?.priority === highest) return;
      if (!entry) observe?.added?.();
      const updated: Entry = { key, priority: highest, since: entry?.since ?? clock.monotonic() };
      dirty.set(key, updated);
      if (processing.has(key)) return;
      if (entry?.lane !== undefined) countReady(entry.lane, -1);
      push(updated);
    },
    take(signal) {
      if (signal.aborted) return Promise.resolve(undefined);
      const key = next();
      // When a namespace has no ready key left, another namespace of its Account may hold more workers.
      if (key !== undefined) handOut();
      return key !== undefined || closed ? Promise.resolve(key) : waitAmong(takers, signal);
    },
    done(key) {
      const work = processing.get(key);
      if (work === undefined) return;
      processing.delete(key);
      held.add(work.lane, -1);
      observe?.worked?.((clock.monotonic() - work.since) / 1000);
      const entry = dirty.get(key);
      if (entry) push(entry);
      else handOut();
    },
    get depth() {
      return waiting.total;
    },
    oldest() {
      const now = clock.monotonic();
      let since = now;
      for (const entry of dirty.values()) if (!processing.has(entry.key)) since = Math.min(since, entry.since);
      return (now - since) / 1000;
    },
    inWork: () => [...processing.values()].map(({ since }) => (clock.monotonic() - since) / 1000),
    shutdown() {
      closed = true;
      handOut();
    },
  };
}

/** Takes the key that is handed to a waiting worker. */
type Taker = (key: string | undefined) => void;

/** Waits as the last of the takers until it is handed a key, or until the signal aborts. */
function waitAmong(takers: Set<Taker>, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const taker: Taker = (taken) => {
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
}
