import type { Clock } from "../clock.ts";

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
