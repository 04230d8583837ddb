import type { Clock } from "../../clock.ts";

/** What comes one after the other and is served together: when none has come for a while, but not long after the first. */
export interface Row {
  add(): void;
  /** All that have come are served. */
  clear(): void;
  /** When the first one has come; undefined when none is waiting. */
  readonly since: number | undefined;
  /** When they are to be served, on the monotonic clock. */
  readonly dueAt: number | undefined;
}

export function createRow({ monotonic }: Pick<Clock, "monotonic">, quietMs: number, longestMs: () => number): Row {
  let row: { first: number; last: number } | undefined;
  return {
    add() {
      const last = monotonic();
      row = { first: row?.first ?? last, last };
    },
    clear() {
      row = undefined;
    },
    get since() {
      return row?.first;
    },
    get dueAt() {
      return row && Math.min(row.last + quietMs, row.first + longestMs());
    },
  };
}

/** How many come one after the other, within the time that lists are apart. */
export interface Stream {
  add(): void;
  readonly size: number;
}

export function createStream({ monotonic }: Pick<Clock, "monotonic">, windowMs: () => number): Stream {
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
