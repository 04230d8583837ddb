import type { Clock } from "../../runtime/clock.ts";
import { createDelays, type Delays } from "./delays.ts";
import { createLanes, type Lane, type Room } from "./lanes.ts";

/**
 * Ready keys of a lane are handed out in this order, first come first served within each priority. What is begun goes before
 * what is new: others may be waiting for it.
 */
export type Priority = "people" | "normal" | "new" | "background";

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
 *
 * Keys have lanes, which take turns: first the Accounts, then the namespaces that share one. An Account may hold a quarter
 * of the workers, and while there are as many free ones, three eighths of them. A namespace, which may have many
 * Accounts, holds at most half. One of those that share an Account leaves a quarter of its share to others, and half
 * while they have keys ready.
 */
export interface Queue {
  add(key: string, priority?: Priority): void;
  /** Adds the key later. Of several times asked for the earliest counts. */
  addAfter(key: string, ms: number, priority?: Priority): void;
  /** Adds the key later, unless it is taken before: what a pass waits for, the next pass says anew. Of several the earliest counts. */
  returnAfter(key: string, ms: number, priority?: Priority): void;
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
  /** Seconds that the oldest of the ready keys has been so; 0 when there is none. */
  oldest(): number;
  /** Seconds each key now in work has been so: for `workqueue_unfinished_work_seconds` and its longest. */
  inWork(): number[];
  /** Takes nothing new. What is ready is still handed out; delayed keys are dropped. */
  shutdown(): void;
}

const ORDER = ["people", "normal", "new", "background"] as const satisfies readonly Priority[];

const higher = (a: Priority, b: Priority): Priority => (ORDER.indexOf(a) <= ORDER.indexOf(b) ? a : b);

interface Asked {
  readonly key: string;
  readonly priority: Priority;
  readonly since: number;
  /** Known from when it is ready. */
  lane?: Lane;
}

const NOBODY: Lane = { account: "", namespace: "", shared: false };

/** Counts keys: of an Account, of a namespace, and of a namespace within an Account. */
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
      const [account, namespace, within] = namesOf(lane);
      const count = (name: string) => counts.get(name) ?? 0;
      return { account: count(account), namespace: count(namespace), within: count(within) };
    },
  };
}

/** A part of the workers, but never none. */
const share = (workers: number, part: number): number => Math.max(1, Math.floor(workers * part));

export function createQueue(options: {
  clock: Clock;
  random?: () => number;
  baseMs?: number;
  maxMs?: number;
  observe?: QueueObserver;
  /** Who a key is worked on for, when it becomes ready. */
  laneOf?: (key: string) => Lane;
  /** How many keys are worked on at once, of which each lane gets its share. */
  workers?: number;
}): Queue {
  const { clock, random = Math.random, baseMs = 1000, maxMs = 300_000, observe, laneOf = () => NOBODY } = options;
  const { workers = Number.POSITIVE_INFINITY } = options;
  const ready = createLanes<Asked>();
  /** Keys that need processing: each is ready, or in work and asked for again. */
  const dirty = new Map<string, Asked>();
  const processing = new Map<string, { since: number; lane: Lane }>();
  /** Keys that are ready, and in work. */
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
    const most = share(workers, free > holds.account ? 3 / 8 : 1 / 4);
    if (holds.account >= most) return "account is full";
    if (holds.namespace >= share(workers, 1 / 2)) return "lane is full";
    if (!lane.shared) return "free";
    const { account, within } = waiting.of(lane);
    return holds.within < share(most, account > within ? 1 / 2 : 3 / 4) ? "free" : "lane is full";
  }
  const isCurrent = (asked: Asked) => dirty.get(asked.key) === asked;

  /** A key comes to wait in its lane, or waits no more. */
  function move(lane: Lane, by: 1 | -1): void {
    depth += by;
    waiting.add(lane, by);
    observe?.depth?.(depth);
  }

  function next(): string | undefined {
    const asked = ready.take(roomOf, isCurrent);
    if (!asked) return undefined;
    const { key, lane = NOBODY } = asked;
    const now = clock.monotonic();
    observe?.waited?.((now - asked.since) / 1000);
    dirty.delete(key);
    returns.remove(key);
    processing.set(key, { since: now, lane });
    held.add(lane, 1);
    move(lane, -1);
    return key;
  }

  function hand(): void {
    for (const taker of takers) {
      const key = next();
      if (key === undefined && !closed) return;
      takers.delete(taker);
      taker(key);
    }
  }

  function push(asked: Asked): void {
    asked.lane = laneOf(asked.key);
    ready.add(asked.lane, asked, ORDER.indexOf(asked.priority));
    move(asked.lane, 1);
    hand();
  }

  function add(key: string, priority: Priority = "normal"): void {
    if (closed) return;
    const asked = dirty.get(key);
    const wanted = asked ? higher(asked.priority, priority) : priority;
    if (asked?.priority === wanted) return;
    if (!asked) observe?.added?.();
    const again: Asked = { key, priority: wanted, since: asked?.since ?? clock.monotonic() };
    dirty.set(key, again);
    if (processing.has(key)) return;
    if (asked?.lane !== undefined) move(asked.lane, -1);
    push(again);
  }

  const delays = createDelays<Priority>({ clock, due: add, merge: higher });
  const returns = createDelays<Priority>({ clock, due: add, merge: higher });

  const addingTo =
    (later: Delays<Priority>) =>
    (key: string, ms: number, priority: Priority = "normal"): void => {
      if (closed) return;
      observe?.retried?.();
      if (ms <= 0) add(key, priority);
      else later.add(key, ms, priority);
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
      // With the last key of a namespace gone, another one of its Account may have more room.
      if (key !== undefined) hand();
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
      const asked = dirty.get(key);
      if (asked) push(asked);
      else hand();
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
      for (const asked of dirty.values()) if (!processing.has(asked.key)) since = Math.min(since, asked.since);
      return (now - since) / 1000;
    },
    inWork: () => [...processing.values()].map(({ since }) => (clock.monotonic() - since) / 1000),
    shutdown() {
      closed = true;
      delays.clear();
      returns.clear();
      hand();
    },
  };
}
