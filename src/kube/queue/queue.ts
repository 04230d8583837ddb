import type { Clock } from "../../runtime/clock.ts";
import { createDelays, type Delays } from "./delays.ts";
import { createLanes, type Lane, type Room } from "./lanes.ts";

/**
 * Ready keys of a lane are handed out in this order, first in first out within a priority: objects that people have edited, then
 * work in progress, because other objects may wait for it, then new objects, then resyncs.
 */
export type Priority = "people" | "normal" | "new" | "background";

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

/**
 * client-go's work queue: a key waits at most once, is never processed twice at the same time, and a key that is added while it
 * is processed is handed out again afterwards.
 *
 * Keys have lanes that take turns: first Accounts, then the namespaces that share an Account. An Account may hold a quarter of
 * the workers, or three eighths while more workers are free than it holds. A namespace, which may have many Accounts, holds at
 * most half of the workers. A namespace that shares an Account holds at most three quarters of the Account's share, or half
 * while other namespaces of that Account have ready keys.
 */
export interface Queue {
  add(key: string, priority?: Priority): void;
  /** Adds the key after a delay. Of several delays the earliest counts. */
  addAfter(key: string, ms: number, priority?: Priority): void;
  /**
   * Adds the key after a delay, unless it is taken earlier: then the next reconcile sets a new delay. Of several delays the
   * earliest counts.
   */
  returnAfter(key: string, ms: number, priority?: Priority): void;
  /** Adds the key after a delay that doubles with each call until `forget`; returns that delay. */
  addRateLimited(key: string, priority?: Priority): number;
  /** The key succeeded: its backoff starts again at the shortest delay. */
  forget(key: string): void;
  /** How often the key was rate limited since its last `forget`. */
  retries(key: string): number;
  /** The next key; undefined when the queue is shut down and empty, or the signal aborts. Every key taken needs `done`. */
  take(signal: AbortSignal): Promise<string | undefined>;
  done(key: string): void;
  /** Keys that are ready. */
  readonly depth: number;
  /** Keys with a delay that is not over. */
  readonly delayed: number;
  /** Seconds that the oldest ready key has been ready; 0 when there is none. */
  oldest(): number;
  /** Seconds that each key has been in process: for `workqueue_unfinished_work_seconds` and the longest running processor. */
  inWork(): number[];
  /** Accepts no new keys. Ready keys are still handed out; delayed keys are dropped. */
  shutdown(): void;
}

const ORDER = ["people", "normal", "new", "background"] as const satisfies readonly Priority[];

const higher = (a: Priority, b: Priority): Priority => (ORDER.indexOf(a) <= ORDER.indexOf(b) ? a : b);

/** A key that needs processing. */
interface Entry {
  readonly key: string;
  readonly priority: Priority;
  readonly since: number;
  /** Set when the key becomes ready. */
  lane?: Lane;
}

const NO_LANE: Lane = { account: "", namespace: "", shared: false };

/** Counts keys per Account, per namespace, and per namespace within an Account. */
function createTally() {
  const counts = new Map<string, number>();
  const namesOf = ({ account, namespace }: Lane) =>
    [`account ${account}`, `namespace ${namespace}`, `${account} ${namespace}`] as const;
  return {
    add(lane: Lane, by: 1 | -1) {
      for (const name of namesOf(lane)) {
        const count = (counts.get(name) ?? 0) + by;
        if (count === 0) counts.delete(name);
        else counts.set(name, count);
      }
    },
    of(lane: Lane) {
      // `within`: in this namespace and this Account.
      const [account, namespace, within] = namesOf(lane);
      const count = (name: string) => counts.get(name) ?? 0;
      return { account: count(account), namespace: count(namespace), within: count(within) };
    },
  };
}

/** A part of the workers, at least one. */
const share = (workers: number, part: number): number => Math.max(1, Math.floor(workers * part));

export function createQueue(options: {
  clock: Clock;
  random?: () => number;
  baseMs?: number;
  maxMs?: number;
  observe?: QueueObserver;
  /** The lane of a key, read when the key becomes ready. */
  laneOf?: (key: string) => Lane;
  /** The number of concurrent reconciles, of which each lane gets its share. */
  workers?: number;
}): Queue {
  const { clock, random = Math.random, baseMs = 1000, maxMs = 300_000, observe, laneOf = () => NO_LANE } = options;
  const { workers = Number.POSITIVE_INFINITY } = options;
  const ready = createLanes<Entry>();
  /** Keys that need processing: ready, or in process and added again. */
  const dirty = new Map<string, Entry>();
  const processing = new Map<string, { since: number; lane: Lane }>();
  /** Counts of ready keys (`waiting`) and of keys in process (`held`). */
  const waiting = createTally();
  const held = createTally();
  let depth = 0;
  const failures = new Map<string, number>();
  const takers = new Set<(key: string | undefined) => void>();
  let closed = false;

  function roomOf(lane: Lane): Room {
    if (closed) return "free";
    const holds = held.of(lane);
    const free = workers - processing.size;
    const accountShare = share(workers, free > holds.account ? 3 / 8 : 1 / 4);
    if (holds.account >= accountShare) return "account is full";
    if (holds.namespace >= share(workers, 1 / 2)) return "lane is full";
    if (!lane.shared) return "free";
    const { account, within } = waiting.of(lane);
    const othersWait = account > within;
    return holds.within < share(accountShare, othersWait ? 1 / 2 : 3 / 4) ? "free" : "lane is full";
  }
  const isCurrent = (entry: Entry) => dirty.get(entry.key) === entry;

  /** A key starts or stops waiting in its lane. */
  function countReady(lane: Lane, by: 1 | -1): void {
    depth += by;
    waiting.add(lane, by);
    observe?.depth?.(depth);
  }

  function next(): string | undefined {
    const entry = ready.take(roomOf, isCurrent);
    if (!entry) return undefined;
    const { key, lane = NO_LANE } = entry;
    const now = clock.monotonic();
    observe?.waited?.((now - entry.since) / 1000);
    dirty.delete(key);
    returns.remove(key);
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

  function add(key: string, priority: Priority = "normal"): void {
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
  }

  /** `delays` stay when their key is taken; `returns` are cancelled. */
  const delays = createDelays<Priority>({ clock, due: add, merge: higher });
  const returns = createDelays<Priority>({ clock, due: add, merge: higher });

  const addingTo =
    (target: Delays<Priority>) =>
    (key: string, ms: number, priority: Priority = "normal"): void => {
      if (closed) return;
      observe?.retried?.();
      if (ms <= 0) add(key, priority);
      else target.add(key, ms, priority);
    };
  const addAfter = addingTo(delays);

  return {
    add,
    addAfter,
    returnAfter: addingTo(returns),
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
      // When a namespace has no ready key left, another namespace of its Account may hold more workers.
      if (key !== undefined) handOut();
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
      return depth;
    },
    get delayed() {
      return delays.size + returns.size;
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
      delays.clear();
      returns.clear();
      handOut();
    },
  };
}
