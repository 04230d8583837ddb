/** The last attempt at something that somebody may undo. The same is not tried again before `retryAt`. */
export interface Attempt {
  what: string;
  times: number;
  retryAt: number;
}

/** After this time without an attempt the backoff begins anew. */
const RESET_AFTER_MS = 600_000;
const LONGEST_MS = 512_000;

/** The backoff doubles with each attempt at the same thing. */
export function nextAttempt(last: Attempt | undefined, what: string, now: number, firstMs = 1000): Attempt {
  const times = last?.what === what && now < last.retryAt + RESET_AFTER_MS ? last.times + 1 : 0;
  return { what, times, retryAt: now + Math.min(firstMs * 2 ** times, LONGEST_MS) };
}
