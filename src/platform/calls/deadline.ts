import type { Clock } from "../../runtime/clock.ts";

/** A signal that aborts when one of the given signals does, or when time is up. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
  /** When time is up, on the monotonic clock. */
  readonly end: number;
  /** To be called when the request leaves. False when it must not: time is up, even if no timer has said so yet. */
  leave(): boolean;
}

/**
 * The time runs from now on. What waits for its turn may have `patienceMs` more, which end when it leaves. `missed` says
 * what was not reached in time.
 */
export function startDeadline(
  clock: Clock,
  ms: number,
  signals: readonly AbortSignal[],
  { patienceMs = 0, missed = "not answered" } = {},
): Deadline {
  const controller = new AbortController();
  const reason = ms > 0 ? `${missed} within ${Math.ceil(ms / 1000)} s` : "not sent: no time left";
  const expire = () => controller.abort(new Error(reason));
  let end = clock.monotonic() + ms + patienceMs;
  let cancelTimer = clock.after(ms + patienceMs, expire);
  const listening = signals.map((signal) => {
    const abort = () => controller.abort(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    return () => signal.removeEventListener("abort", abort);
  });
  return {
    signal: controller.signal,
    get end() {
      return end;
    },
    leave() {
      // A process that was stopped for a while must not send what was due before: its timers are late as well.
      if (clock.monotonic() >= end) expire();
      if (patienceMs > 0 && clock.monotonic() + ms < end) {
        cancelTimer();
        end = clock.monotonic() + ms;
        cancelTimer = clock.after(ms, expire);
      }
      return !controller.signal.aborted;
    },
    [Symbol.dispose]() {
      cancelTimer();
      for (const stop of listening) stop();
    },
  };
}
