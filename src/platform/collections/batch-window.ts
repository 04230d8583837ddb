import type { Clock } from "../../runtime/clock.ts";

/**
 * A debounce window. Arrivals that follow each other are served together: after a quiet time, but at the latest `longestMs`
 * after the first. While batches follow each other, the quiet time doubles, so that slow arrivals are served together too.
 */
export interface BatchWindow {
  add(): void;
  /** All arrivals are served. */
  clear(): void;
  /** When the first arrival came; undefined when none waits. */
  readonly since: number | undefined;
  /** When to serve them, on the monotonic clock. */
  readonly dueAt: number | undefined;
}

/** The quiet time grows to at most the longest wait divided by this. */
const shortestShare = 3;

export function createBatchWindow(
  { monotonic }: Pick<Clock, "monotonic">,
  quietMs: number,
  longestMs: () => number,
): BatchWindow {
  let batch: { first: number; last: number } | undefined;
  let batchesBefore = 0;
  let servedAt = Number.NEGATIVE_INFINITY;
  return {
    add() {
      const last = monotonic();
      if (!batch && last - servedAt >= longestMs()) batchesBefore = 0;
      batch = { first: batch?.first ?? last, last };
    },
    clear() {
      if (!batch) return;
      batch = undefined;
      batchesBefore += 1;
      servedAt = monotonic();
    },
    get since() {
      return batch?.first;
    },
    get dueAt() {
      if (!batch) return undefined;
      const longest = longestMs();
      const quiet = Math.max(quietMs, Math.min(quietMs * 2 ** batchesBefore, longest / shortestShare));
      return Math.min(batch.last + quiet, batch.first + longest);
    },
  };
}

/** The number of arrivals in one window: the larger count of the current window and the one before. */
export interface ArrivalCount {
  add(): void;
  readonly size: number;
}

export function createArrivalCount({ monotonic }: Pick<Clock, "monotonic">, windowMs: () => number): ArrivalCount {
  let current = { since: monotonic(), count: 0 };
  let countBefore = 0;
  const roll = () => {
    const passed = monotonic() - current.since;
    if (passed < windowMs()) return;
    countBefore = passed < 2 * windowMs() ? current.count : 0;
    current = { since: monotonic(), count: 0 };
  };
  return {
    add() {
      roll();
      current.count += 1;
    },
    get size() {
      roll();
      return Math.max(countBefore, current.count);
    },
  };
}
