import { createDelays, type Delays } from "./delays.ts";
import { createReadyQueue, higher, type Priority, type ReadyQueue, type ReadyQueueOptions } from "./ready-queue.ts";

export type { Priority, QueueObserver } from "./ready-queue.ts";

/**
 * client-go's work queue: a key waits at most once, is never processed twice at the same time, and a key that is added while it
 * is processed is handed out again afterwards.
 *
 * Keys have lanes that take turns: first Accounts, then the namespaces that share an Account. `roomOf` says how many of the
 * workers each of them may hold.
 */
export interface Queue extends ReadyQueue {
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
  /** Keys with a delay that is not over. */
  readonly delayed: number;
  /** Accepts no new keys. Ready keys are still handed out; delayed keys are dropped. */
  shutdown(): void;
}

interface RateLimits {
  random?: () => number;
  baseMs?: number;
  maxMs?: number;
}

/** client-go's exponential rate limiter: a delay that doubles with each failure of a key, up to `maxMs`, with jitter. */
function createRateLimiter({ random = Math.random, baseMs = 1000, maxMs = 300_000 }: RateLimits) {
  const failures = new Map<string, number>();
  const retries = (key: string): number => failures.get(key) ?? 0;
  return {
    retries,
    /** Counts a failure and returns its delay. */
    next(key: string): number {
      const count = retries(key);
      failures.set(key, count + 1);
      return Math.min(maxMs, baseMs * 2 ** count) * (0.5 + random() / 2);
    },
    forget: (key: string): void => void failures.delete(key),
  };
}

export function createQueue(options: ReadyQueueOptions & RateLimits): Queue {
  const { clock, observe } = options;
  const ready = createReadyQueue(options, (key) => returns.remove(key));
  const limiter = createRateLimiter(options);
  /** `delays` stay when their key is taken; `returns` are cancelled. */
  const delays = createDelays<Priority>({ clock, due: ready.add, merge: higher });
  const returns = createDelays<Priority>({ clock, due: ready.add, merge: higher });
  let closed = false;

  const addingTo =
    (target: Delays<Priority>) =>
    (key: string, ms: number, priority: Priority = "normal"): void => {
      if (closed) return;
      observe?.retried?.();
      if (ms <= 0) ready.add(key, priority);
      else target.add(key, ms, priority);
    };
  const addAfter = addingTo(delays);

  return {
    add: ready.add,
    take: ready.take,
    done: ready.done,
    oldest: ready.oldest,
    inWork: ready.inWork,
    get depth() {
      return ready.depth;
    },
    addAfter,
    returnAfter: addingTo(returns),
    addRateLimited(key, priority) {
      const ms = limiter.next(key);
      addAfter(key, ms, priority);
      return ms;
    },
    forget: limiter.forget,
    retries: limiter.retries,
    get delayed() {
      return delays.size + returns.size;
    },
    shutdown() {
      closed = true;
      delays.clear();
      returns.clear();
      ready.shutdown();
    },
  };
}
