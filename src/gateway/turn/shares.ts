import type { Clock } from "../../runtime/clock.ts";
import { Refused } from "../refused.ts";

export interface ShareOptions {
  clock: Clock;
  /** Average rate, and burst. */
  perSecond: number;
  burst: number;
  /** Maximum wait for a turn. A call that would wait longer is refused immediately. */
  mostWaitMs: number;
}

/** The rate limit of a contract, shared by namespaces. They take turns, however many calls each of them has. */
export interface Shares {
  /** Resolves when the call may be sent. `again`: a retry, which comes first in its namespace. */
  enter(namespace: string, signal: AbortSignal, again?: boolean): Promise<void>;
  /** The platform asks for a pause: no call is sent for this time. */
  pause(ms: number): void;
  readonly waiting: number;
}

interface Waiting {
  go(): void;
  refuse(error: Refused): void;
}

export function createShares({ clock, perSecond, burst, mostWaitMs }: ShareOptions): Shares {
  /** Waiting calls by namespace, in the order of turns. */
  const lines = new Map<string, Waiting[]>();
  /** The number of calls that can be sent within the maximum wait. */
  const mostWaiting = Math.max(1, Math.floor((mostWaitMs / 1000) * perSecond));
  let waiting = 0;
  let slots = burst;
  let countedAt = clock.monotonic();
  let closedUntil = 0;
  let cancel: (() => void) | undefined;

  function refill(): void {
    const now = clock.monotonic();
    slots = Math.min(burst, slots + ((now - countedAt) / 1000) * perSecond);
    countedAt = now;
  }

  const full = () =>
    new Refused(429, "rate_limit_exceeded", "too many calls wait for the rate limit of the contract", {
      retryAfter: waiting / perSecond,
    });

  function leave(namespace: string, each: Waiting): void {
    const line = lines.get(namespace);
    const at = line?.indexOf(each) ?? -1;
    if (line === undefined || at < 0) return;
    line.splice(at, 1);
    waiting -= 1;
    if (line.length === 0) lines.delete(namespace);
  }

  /**
   * Makes room for one more call: the namespace with the most waiting calls loses its last one. The new call is refused
   * instead if its own namespace would have as many.
   */
  function makeRoom(namespace: string): void {
    if (waiting < mostWaiting) return;
    let longest: [string, Waiting[]] = ["", []];
    for (const each of lines) if (each[1].length > longest[1].length) longest = each;
    const own = lines.get(namespace)?.length ?? 0;
    const last = longest[1].at(-1);
    if (last === undefined || longest[1].length <= own + 1) throw full();
    leave(longest[0], last);
    last.refuse(full());
  }

  /** Sends waiting calls while the rate allows, and sets a timer for the next one. */
  function pump(): void {
    cancel?.();
    cancel = undefined;
    refill();
    const closed = closedUntil - clock.monotonic();
    while (closed <= 0 && slots >= 1) {
      const [turn] = lines;
      if (turn === undefined) return;
      const [namespace, line] = turn;
      const next = line.shift();
      waiting -= 1;
      slots -= 1;
      // Moves the namespace to the end of the order.
      lines.delete(namespace);
      if (line.length > 0) lines.set(namespace, line);
      next?.go();
    }
    if (lines.size > 0) cancel = clock.after(Math.max(closed, ((1 - slots) / perSecond) * 1000, 1), pump);
  }

  return {
    get waiting() {
      return waiting;
    },
    pause(ms) {
      closedUntil = Math.max(closedUntil, clock.monotonic() + ms);
      slots = Math.min(slots, 1);
    },
    async enter(namespace, signal, again = false) {
      refill();
      // No call is waiting, and the rate allows one.
      if (lines.size === 0 && slots >= 1 && closedUntil <= clock.monotonic() && !signal.aborted) {
        slots -= 1;
        return;
      }
      await new Promise<void>((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const abort = () => {
          leave(namespace, each);
          reject(signal.reason);
        };
        const done = () => signal.removeEventListener("abort", abort);
        const each: Waiting = {
          go() {
            done();
            resolve();
          },
          refuse(error) {
            done();
            reject(error);
          },
        };
        if (!again) makeRoom(namespace);
        const line = lines.get(namespace) ?? [];
        if (again) line.unshift(each);
        else line.push(each);
        lines.set(namespace, line);
        waiting += 1;
        signal.addEventListener("abort", abort, { once: true });
        pump();
      });
    },
  };
}
