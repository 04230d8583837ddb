import type { Clock } from "../../runtime/clock.ts";
import { KubeError } from "./errors.ts";

export interface Deadline extends Disposable {
  /** Aborts with a KubeError: the caller's own error, `Aborted`, or `Timeout`. Made when it is first used. */
  readonly signal: AbortSignal;
  /** Calls back with that error, at once if the call is already over. Returns a function that cancels the callback. */
  onEnd(callback: (error: KubeError) => void): () => void;
  /** Cancels the timeout; the caller's signal still counts until disposal. */
  disarm(): void;
}

/** Ends one call (`what`, as in `GET /api`) with the caller's signal, or after `ms`. */
export function deadline(what: string, ms: number, clock: Clock, caller: AbortSignal | undefined): Deadline {
  const callbacks = new Set<(error: KubeError) => void>();
  let ended: KubeError | undefined;
  let controller: AbortController | undefined;
  const end = (error: KubeError) => {
    ended ??= error;
    for (const callback of callbacks) callback(ended);
    callbacks.clear();
    controller?.abort(ended);
  };
  const fail = (reason: string, said: string) => end(new KubeError({ status: 0, reason, message: `${what}: ${said}` }));
  const follow = () => {
    if (caller?.reason instanceof KubeError) end(caller.reason);
    else fail("Aborted", "aborted by the caller");
  };
  const disarm = clock.after(ms, () => fail("Timeout", `no answer within ${ms / 1000} s`));
  if (caller?.aborted) follow();
  caller?.addEventListener("abort", follow, { once: true });
  return {
    get signal() {
      controller ??= new AbortController();
      if (ended) controller.abort(ended);
      return controller.signal;
    },
    onEnd(callback) {
      if (ended) callback(ended);
      else callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
    disarm,
    [Symbol.dispose]() {
      disarm();
      caller?.removeEventListener("abort", follow);
    },
  };
}

/** Settles like the promise, or rejects as soon as the deadline ends the call. */
export function orEnd<T>(promise: Promise<T>, limit: Pick<Deadline, "onEnd">): Promise<T> {
  return new Promise((resolve, reject) => {
    const forget = limit.onEnd(reject);
    promise.then(resolve, reject).finally(forget);
  });
}
