import type { Clock } from "../../runtime/clock.ts";
import { yieldWorker } from "../../runtime/workers.ts";

export type Priority = "people" | "normal" | "background";

/** The turn of a request does not come in time: retry after `afterMs`. */
export class Closed extends Error {
  readonly afterMs: number;

  constructor(afterMs: number) {
    super(`not sent: its turn would come in ${Math.ceil(afterMs / 1000)} s`);
    this.name = "Closed";
    this.afterMs = afterMs;
  }
}

/** The permission to send one request. Call `leave` once, when the answer is complete. */
export interface Pass {
  leave(): void;
  /** The platform answered 429 to this request. */
  refused(afterMs: number | undefined): void;
}

/**
 * The rate limiter of one credential on one host, for all workers.
 *
 * A token bucket that starts at a moderate rate and learns. While requests wait for their turn, every answer that did not take
 * longer than usual raises the rate by one: it doubles within a second, up to the allowed maximum, and more requests may be in
 * flight. When none wait, the rate decays to the first one. A slow platform gets no higher rate. A 429 halves the rate and
 * stops all requests for the Retry-After (or for a backoff that doubles with each refusal); 429s of requests that were already
 * in flight do not count again. After that the rate grows by a fixed amount per second, so that it reaches the refused rate
 * after half a minute, and above it by a tenth of that, until ten minutes have passed without a 429.
 *
 * The highest priority goes first, and each priority is first in first out. Every tenth turn goes to the request that has
 * waited longest, so that background reads slow down under load but never stop. Background reads leave a quarter of the
 * concurrent requests to others.
 */
export interface Pacer {
  /**
   * Resolves when it is the request's turn. Rejects with the signal's reason when it aborts first; an aborted wait costs
   * nothing. Rejects with `Closed` as soon as it is known that the turn does not come before `until`, a time of the monotonic
   * clock. A waiting caller holds no worker.
   */
  enter(priority: Priority, signal?: AbortSignal, until?: number): Promise<Pass>;
  /** The estimated requests per second that the platform accepts now. */
  readonly rate: number;
  /** Whether requests are stopped after a 429. */
  readonly isClosed: boolean;
  /** The number of requests that wait for their turn. */
  readonly waiting: number;
}

export interface PacerOptions {
  clock: Clock;
  random?: () => number;
  /** The first rate, in requests per second. */
  rate?: number;
  /** The current maximum rate. Default: the first rate. */
  most?: () => number;
  /** How many requests may be sent at once after a pause. Shrinks with the rate. */
  burst?: number;
  /** How many requests may be in flight at the first rate; the number grows with the rate. */
  concurrent?: number;
  mostConcurrent?: number;
}

interface Waiting {
  serial: number;
  priority: Priority;
  until: number;
  grant: () => void;
  turnAway: (reason: unknown) => void;
}

const order: readonly Priority[] = ["people", "normal", "background"];
const slowestRate = 0.5;
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
/** The time in which the rate would grow by the whole refused rate. It was halved, so it is back after half of this time. */
const recoverySeconds = 60;
const oldestFirstEvery = 10;
/** How long a refused rate is remembered. */
const rememberMs = 600_000;
/** An unused rate halves in this time. */
const sinkSeconds = 30;
/** Differences between answers faster than this are noise. */
const shortestMs = 10;
/** The fastest answer time doubles in this time, so that old values expire. */
const forgetMs = 300_000;
/** The part of the growth after a 429 that remains above the refused rate. */
const cautious = 0.1;

export function createPacer(options: PacerOptions): Pacer {
  const { clock, random = Math.random, rate: firstRate = 50, burst: fullBurst = 50, concurrent = 16 } = options;
  const { most = () => firstRate, mostConcurrent = concurrent } = options;
  const queues: Record<Priority, Set<Waiting>> = { people: new Set(), normal: new Set(), background: new Set() };

  let rate = Math.min(firstRate, most());
  /** By how much the rate grows per second after a 429. */
  let growth = 0;
  /** The last refused rate, and when. */
  let refused: { rate: number; at: number } | undefined;
  /** Whether requests wait for a token or for a free slot. */
  let heldUp = false;
  /** The fastest answer time. */
  let fastest = { ms: Number.POSITIVE_INFINITY, at: 0 };
  let tokens = fullBurst;
  let countedAt = clock.monotonic();
  let closedUntil = Number.NEGATIVE_INFINITY;
  let refusals = 0;
  let running = 0;
  let runningBackground = 0;
  let arrivals = 0;
  let grants = 0;
  let cancelTimer: (() => void) | undefined;

  /** Updates rate and tokens to now; nothing grows while requests are stopped. */
  const catchUp = () => {
    const now = clock.monotonic();
    const seconds = Math.max(0, now - Math.max(countedAt, closedUntil)) / 1000;
    countedAt = now;
    tokens = Math.min(tokens + seconds * rate, Math.max(1, fullBurst * Math.min(1, rate / firstRate)));
    rate = Math.min(most(), rateAfter(seconds));
    if (refused && now - refused.at > rememberMs) refused = undefined;
  };
  const rateAfter = (seconds: number): number => {
    if (rate < firstRate) return Math.min(firstRate, rate + seconds * growth);
    return heldUp ? rate : Math.max(firstRate, rate * 0.5 ** (seconds / sinkSeconds));
  };
  /** Raises the rate after an answer, if requests wait for their turn. */
  const grow = (tookMs: number) => {
    const now = clock.monotonic();
    const ms = Math.min(fastest.ms * 2 ** ((now - fastest.at) / forgetMs), Math.max(tookMs, shortestMs));
    fastest = { ms, at: now };
    if (!heldUp || tookMs > 2 * ms || rate < firstRate) return;
    const more = refused ? (growth / rate) * (rate >= refused.rate ? cautious : 1) : 1;
    rate = Math.min(most(), rate + more);
  };
  const mostRunning = () => Math.min(mostConcurrent, Math.max(concurrent, Math.floor((concurrent * rate) / firstRate)));

  const next = (): Waiting | undefined => {
    const heads = order.flatMap((priority) => {
      if (priority === "background" && runningBackground >= Math.max(1, Math.floor(mostRunning() * 0.75))) return [];
      const [head] = queues[priority];
      return head ?? [];
    });
    if ((grants + 1) % oldestFirstEvery !== 0) return heads[0];
    return heads.reduce<Waiting | undefined>(
      (oldest, head) => (oldest && oldest.serial < head.serial ? oldest : head),
      undefined,
    );
  };

  const pump = () => {
    cancelTimer?.();
    cancelTimer = undefined;
    catchUp();
    heldUp = false;
    while (running < mostRunning()) {
      const first = next();
      if (first === undefined) return;
      const wait = Math.max(closedUntil - clock.monotonic(), tokens >= 1 ? 0 : ((1 - tokens) / rate) * 1000);
      if (wait > 0) {
        heldUp = tokens < 1;
        cancelTimer = clock.after(Math.ceil(wait), pump);
        return;
      }
      tokens -= 1;
      grants += 1;
      queues[first.priority].delete(first);
      first.grant();
    }
    heldUp = next() !== undefined;
  };

  /** `Closed` if the turn of a request at this place of the queue comes after `until`, estimated from the pause and the rate. */
  const closedIfLate = (place: number, until: number): Closed | undefined => {
    const now = clock.monotonic();
    const closedMs = Math.max(0, closedUntil - now);
    const wait = closedMs + Math.max(0, ((place - tokens) / rate) * 1000);
    return wait > 0 && now + wait > until ? new Closed(closedMs > 0 ? closedMs : wait) : undefined;
  };

  const refuse = (enteredAt: number, afterMs: number | undefined) => {
    const now = clock.monotonic();
    // A 429 of a request that was in flight when the pause began is not a new refusal.
    const isCounted = enteredAt < closedUntil;
    if (!isCounted) {
      catchUp();
      refusals += 1;
      // Even a very low rate recovers within minutes after the last 429.
      growth = Math.max(rate, firstRate / 8) / recoverySeconds;
      refused = { rate, at: now };
      rate = Math.max(Math.min(slowestRate, firstRate), rate / 2);
    }
    tokens = Math.min(tokens, 0);
    const backoff = Math.min(longestPauseMs, firstPauseMs * 2 ** (refusals - 1));
    // Jitter, so that several operators behind one limit do not retry at the same time.
    const pause = (afterMs ?? backoff) * (1 + 0.1 * random());
    if (!isCounted || afterMs !== undefined) closedUntil = Math.max(closedUntil, now + pause);
    let place = 0;
    for (const waiting of order.flatMap((priority) => [...queues[priority]])) {
      const late = closedIfLate(place + 1, waiting.until);
      if (late) waiting.turnAway(late);
      else place += 1;
    }
    pump();
  };

  const openPass = (priority: Priority): Pass => {
    const enteredAt = clock.monotonic();
    let wasRefused = false;
    let left = false;
    running += 1;
    if (priority === "background") runningBackground += 1;
    return {
      leave() {
        if (left) return;
        left = true;
        running -= 1;
        if (priority === "background") runningBackground -= 1;
        if (!wasRefused && enteredAt >= closedUntil) {
          refusals = 0;
          grow(clock.monotonic() - enteredAt);
        }
        pump();
      },
      refused(afterMs) {
        wasRefused = true;
        refuse(enteredAt, afterMs);
      },
    };
  };

  return {
    get rate() {
      catchUp();
      return rate;
    },
    get isClosed() {
      return clock.monotonic() < closedUntil;
    },
    get waiting() {
      return order.reduce((sum, priority) => sum + queues[priority].size, 0);
    },
    enter(priority, signal, until = Number.POSITIVE_INFINITY) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        catchUp();
        const before = order.slice(0, order.indexOf(priority) + 1);
        const late = closedIfLate(
          before.reduce((sum, each) => sum + queues[each].size, 1),
          until,
        );
        if (late) return reject(late);
        let resumeWorker = () => {};
        let stopTimer = () => {};
        const stopWaiting = () => {
          stopTimer();
          signal?.removeEventListener("abort", abort);
          resumeWorker();
        };
        const abort = () => {
          waiting.turnAway(signal?.reason);
          pump();
        };
        const waiting: Waiting = {
          serial: arrivals++,
          priority,
          until,
          grant() {
            stopWaiting();
            resolve(openPass(priority));
          },
          turnAway(reason) {
            stopWaiting();
            queues[priority].delete(waiting);
            reject(reason);
          },
        };
        signal?.addEventListener("abort", abort, { once: true });
        queues[priority].add(waiting);
        pump();
        if (!queues[priority].has(waiting)) return;
        resumeWorker = yieldWorker();
        // Requests of a higher priority, or slow ones in flight, may delay the turn beyond `until`.
        if (Number.isFinite(until)) {
          stopTimer = clock.after(until - clock.monotonic(), () => {
            waiting.turnAway(new Closed(firstPauseMs));
            pump();
          });
        }
      });
    },
  };
}
