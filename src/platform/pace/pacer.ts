import type { Clock } from "../../runtime/clock.ts";
import { yieldWorker } from "../../runtime/workers.ts";
import { createInFlight } from "./in-flight.ts";
import { createLearnedRate, firstPauseMs } from "./learned-rate.ts";
import { createWaitingLine, type Priority, type Waiting, type WaitingLine } from "./waiting-line.ts";

export type { Priority } from "./waiting-line.ts";

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
 * Requests wait in a line (`WaitingLine`) for a token of a rate that is learned (`LearnedRate`), and for a free place among the
 * requests in flight (`InFlight`). The number of places grows with the rate.
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

export function createPacer(options: PacerOptions): Pacer {
  const { clock, random = Math.random, rate: firstRate = 50, burst = 50, concurrent = 16 } = options;
  const { most = () => firstRate, mostConcurrent = concurrent } = options;
  let isHeldUp = false;
  const rate = createLearnedRate({ clock, random, first: firstRate, most, burst, isHeldUp: () => isHeldUp });
  const inFlight = createInFlight(() =>
    Math.min(mostConcurrent, Math.max(concurrent, Math.floor((concurrent * rate.perSecond) / firstRate))),
  );
  const line = createWaitingLine();
  let cancelTimer: (() => void) | undefined;

  /** Gives as many turns as possible now, and sets a timer for the next one. */
  const pump = () => {
    cancelTimer?.();
    cancelTimer = undefined;
    rate.catchUp();
    isHeldUp = false;
    while (!inFlight.isFull) {
      const next = line.next(inFlight.allows);
      if (next === undefined) return;
      const wait = rate.waitMs;
      if (wait > 0) {
        isHeldUp = !rate.hasToken;
        cancelTimer = clock.after(Math.ceil(wait), pump);
        return;
      }
      rate.takeToken();
      line.grant(next);
    }
    isHeldUp = line.next(inFlight.allows) !== undefined;
  };

  const closedIfLate = (place: number, until: number): Closed | undefined => {
    const afterMs = rate.retryIfLate(place, until);
    return afterMs === undefined ? undefined : new Closed(afterMs);
  };

  const openPass = (priority: Priority): Pass => {
    const sentAt = clock.monotonic();
    let wasRefused = false;
    let left = false;
    inFlight.add(priority);
    return {
      leave() {
        if (left) return;
        left = true;
        inFlight.remove(priority);
        if (!wasRefused) rate.answered(sentAt);
        pump();
      },
      refused(afterMs) {
        wasRefused = true;
        rate.refused(sentAt, afterMs);
        line.turnAway(closedIfLate);
        pump();
      },
    };
  };

  return {
    get rate() {
      rate.catchUp();
      return rate.perSecond;
    },
    get isClosed() {
      return rate.isClosed;
    },
    get waiting() {
      return line.size;
    },
    enter(priority, signal, until = Number.POSITIVE_INFINITY) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        rate.catchUp();
        const late = closedIfLate(line.placeOf(priority), until);
        if (late) return reject(late);
        const granted = () => resolve(openPass(priority));
        waitForTurn({ priority, signal, until, granted, reject }, { clock, line, pump });
      });
    },
  };
}

interface WaitingCall {
  priority: Priority;
  signal: AbortSignal | undefined;
  until: number;
  granted(): void;
  reject(reason: unknown): void;
}

/**
 * Puts a request in the line until its turn comes, its signal aborts or `until` has passed. If the turn does not come at once,
 * its worker is free meanwhile.
 */
function waitForTurn(
  { priority, signal, until, granted, reject }: WaitingCall,
  { clock, line, pump }: { clock: Clock; line: WaitingLine; pump: () => void },
): void {
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
    priority,
    until,
    grant() {
      stopWaiting();
      granted();
    },
    turnAway(reason) {
      stopWaiting();
      line.delete(waiting);
      reject(reason);
    },
  };
  signal?.addEventListener("abort", abort, { once: true });
  line.add(waiting);
  pump();
  if (!line.has(waiting)) return;
  resumeWorker = yieldWorker();
  // Requests of a higher priority, or slow ones in flight, may delay the turn beyond `until`.
  if (Number.isFinite(until)) {
    stopTimer = clock.after(until - clock.monotonic(), () => {
      waiting.turnAway(new Closed(firstPauseMs));
      pump();
    });
  }
}
