import type { Entry } from "../records/activity.ts";

/** An entry, or its time alone, which comes before all entries of that time. */
type Place = Pick<Entry, "at"> & Partial<Pick<Entry, "n">>;
export type Compare = (a: Place, b: Place) => number;

export const byTime: Compare = (a, b) => a.at - b.at || (a.n ?? -1) - (b.n ?? -1);

/** Entries in order. A change or a period takes a few comparisons, however long the log is. */
export function createOrdered(compare: Compare = byTime) {
  const entries: Entry[] = [];
  /** The number of entries before a place. */
  function countBefore(place: Place): number {
    const last = entries.at(-1);
    if (last === undefined || compare(last, place) < 0) return entries.length;
    let [low, high] = [0, entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const entry = entries[middle];
      if (entry !== undefined && compare(entry, place) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  return {
    add(entry: Entry): void {
      let at = countBefore(entry);
      // A change and a read may have the same place: the one that came first stays first.
      for (let next = entries[at]; next !== undefined && compare(next, entry) === 0; next = entries[at]) at += 1;
      entries.splice(at, 0, entry);
    },
    remove(entry: Entry): void {
      for (let at = countBefore(entry); at < entries.length; at++) {
        const found = entries[at];
        if (found === undefined || compare(found, entry) !== 0) return;
        if (found === entry) return void entries.splice(at, 1);
      }
    },
    /** From a time on, to another one, which is not included. */
    between: (from: number, to: number): Entry[] => entries.slice(countBefore({ at: from }), countBefore({ at: to })),
  };
}
