/** The clock is passed in. Code whose time a test controls takes a `Clock` and never reads the system time. */
export interface Clock {
  /** Wall time in milliseconds since the epoch: for timestamps that people and other machines read. */
  now(): number;
  /** Milliseconds that never jump: for durations and deadlines. */
  monotonic(): number;
  /**
   * Calls `fire` once after `ms`, on the next event loop turn when `ms` is not positive. The returned function cancels it. A
   * timer alone does not keep the process alive.
   */
  after(ms: number, fire: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, fire) {
    const timer = setTimeout(fire, Math.max(0, ms)).unref();
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`, or rejects with the signal's reason as soon as it aborts. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener("abort", abort);
      resolve();
    });
    signal?.addEventListener("abort", abort, { once: true });
  });
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
