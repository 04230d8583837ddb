import type { Clock } from "../../runtime/clock.ts";
import { KubeError } from "./errors.ts";

export interface Deadline extends Disposable {
  /** Aborts with a KubeError: the caller's own error, `Aborted`, or `Timeout`. */
  readonly signal: AbortSignal;
  /** Cancels the timeout; the caller's signal still counts until disposal. */
  disarm(): void;
}

/** A signal for one call (`what`, as in `GET /api`) that aborts with the caller's signal, or after `ms`. */
export function deadline(what: string, ms: number, clock: Clock, caller: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  const fail = (reason: string, said: string) =>
    controller.abort(new KubeError({ status: 0, reason, message: `${what}: ${said}` }));
  const follow = () => {
    if (caller?.reason instanceof KubeError) controller.abort(caller.reason);
    else fail("Aborted", "aborted by the caller");
  };
  const disarm = clock.after(ms, () => fail("Timeout", `no answer within ${ms / 1000} s`));
  if (caller?.aborted) follow();
  caller?.addEventListener("abort", follow, { once: true });
  return {
    signal: controller.signal,
    disarm,
    [Symbol.dispose]() {
      disarm();
      caller?.removeEventListener("abort", follow);
    },
  };
}

/** Settles like the promise, or rejects with the signal's reason as soon as it aborts. */
export function orAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
