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

/** The quiet time is at most the longest wait divided by this. */
const shortestShare = 3;

export function createBatchWindow(
  { monotonic }: Pick<Clock, "monotonic">,
  quietMs: number,
  longestMs: () => number,
): BatchWindow {
  let row: { first: number; last: number } | undefined;
  let rowsBefore = 0;
  let servedAt = Number.NEGATIVE_INFINITY;
  return {
    add() {
      const last = monotonic();
      if (!row && last - servedAt >= longestMs()) rowsBefore = 0;
      row = { first: row?.first ?? last, last };
    },
    clear() {
      if (!row) return;
      row = undefined;
      rowsBefore += 1;
      servedAt = monotonic();
    },
    get since() {
      return row?.first;
    },
    get dueAt() {
      if (!row) return undefined;
      const longest = longestMs();
      const quiet = Math.max(quietMs, Math.min(quietMs * 2 ** rowsBefore, longest / shortestShare));
      return Math.min(row.last + quiet, row.first + longest);
    },
  };
}

/** The number of arrivals in one window: the larger count of the current window and the one before. */
export interface ArrivalCount {
  add(): void;
  readonly size: number;
}

export function createArrivalCount({ monotonic }: Pick<Clock, "monotonic">, windowMs: () => number): ArrivalCount {
  let now = { since: monotonic(), count: 0 };
  let before = 0;
  const roll = () => {
    const passed = monotonic() - now.since;
    if (passed < windowMs()) return;
    before = passed < 2 * windowMs() ? now.count : 0;
    now = { since: monotonic(), count: 0 };
  };
  return {
    add() {
      roll();
      now.count += 1;
    },
    get size() {
      roll();
      return Math.max(before, now.count);
    },
  };
}
