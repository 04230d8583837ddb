import type { Clock } from "../../runtime/clock.ts";

/** A signal that aborts with one of the given signals, or when time is up. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
  /** When time is up, on the monotonic clock. */
  readonly end: number;
  /** Call it right before the request is sent. False when it must not be: time is up, even if no timer has fired yet. */
  beginSend(): boolean;
}

/**
 * Starts now. With `patienceMs`, the wait for a turn may take that much longer, and once the request is sent, `ms` counts from
 * then. `missed` names the step that is overdue.
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
    beginSend() {
      // A process that was frozen must not send overdue requests: its timers are late too.
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
