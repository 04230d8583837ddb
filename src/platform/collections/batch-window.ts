import type { Clock } from "../../runtime/clock.ts";

/**
 * What comes one after the other and is served together: when none has come for a while, but not long after the first.
 * While one row follows another, each waits longer for the next to come, so that those who come slowly are served
 * together as well.
 */
export interface BatchWindow {
  add(): void;
  /** All that have come are served. */
  clear(): void;
  /** When the first one has come; undefined when none is waiting. */
  readonly since: number | undefined;
  /** When they are to be served, on the monotonic clock. */
  readonly dueAt: number | undefined;
}

/** So many times within the longest wait, at least, a row may end because none has come for a while. */
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

/** How many come one after the other, within the time that lists are apart. */
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
