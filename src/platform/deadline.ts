import type { Clock } from "../clock.ts";

/** A signal that aborts when one of the given signals does, or when time is up. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
  /** To be called when the request leaves. False when it must not: time is up, even if no timer has said so yet. */
  leave(): boolean;
}

/** `from` says when the time starts to run: now, or when the request leaves. */
export function startDeadline(
  clock: Clock,
  ms: number,
  from: "now" | "leaving",
  signals: readonly AbortSignal[],
): Deadline {
  const controller = new AbortController();
  let end = Number.POSITIVE_INFINITY;
  let cancelTimer: (() => void) | undefined;
  const reason = ms > 0 ? `not answered within ${ms} ms` : "not sent, for there was no time left";
  const expire = () => controller.abort(new Error(reason));
  const begin = () => {
    end = clock.monotonic() + ms;
    cancelTimer = clock.after(ms, expire);
  };
  const listening = signals.map((signal) => {
    const abort = () => controller.abort(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    return () => signal.removeEventListener("abort", abort);
  });
  if (from === "now") begin();
  return {
    signal: controller.signal,
    leave() {
      // A process that was stopped for a while must not send what was due before: its timers are late as well.
      if (clock.monotonic() >= end) expire();
      if (from === "leaving") begin();
      return !controller.signal.aborted;
    },
    [Symbol.dispose]() {
      cancelTimer?.();
      for (const stop of listening) stop();
    },
  };
}
