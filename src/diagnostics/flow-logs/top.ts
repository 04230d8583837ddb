import { add, type Count } from "./records/count.ts";
import type { FlowRecord } from "./records/record.ts";

export const topFields = ["srcaddr", "dstaddr", "srcport", "dstport", "interface", "protocol"] as const;
export type TopField = (typeof topFields)[number];

export const measures = ["bytes", "packets", "flows"] as const;
export type Measure = (typeof measures)[number];

export type Sums = Record<Measure, Count>;

export interface TopRow extends Sums {
  readonly value: string | number;
  /** Share of the total, 0 to 1. */
  readonly share: number;
}

export interface Top {
  readonly field: TopField;
  readonly by: Measure;
  readonly total: Sums;
  readonly rows: TopRow[];
  /** Number of values dropped to save memory; 0 means that every row is exact. */
  readonly dropped: number;
  /**
   * Maximum amount by which a row may be too small, because its value was dropped and came up again. Values with no
   * more than this are not shown: a dropped value may have as much.
   */
  readonly missing: Count;
}

export interface Tally {
  add(record: FlowRecord): void;
  top(rows: number): Top;
}

/** One function per field: `record[field]` would be much slower in this inner loop. */
const values: Record<TopField, (record: FlowRecord) => string | number> = {
  srcaddr: (record) => record.srcaddr,
  dstaddr: (record) => record.dstaddr,
  srcport: (record) => record.srcport,
  dstport: (record) => record.dstport,
  interface: (record) => record.interface,
  protocol: (record) => record.protocol,
};

/** Number of values to count. At twice this number, the smaller half is dropped. */
const CAPACITY = 100_000;

/**
 * Sums by the values of one field, with bounded memory. Sums are exact for up to twice the capacity of different
 * values. Beyond that, the map drops its smaller half whenever it is full. Each time a value may lose at most the
 * largest dropped sum; `missing` adds these up.
 */
export function createTally(field: TopField, by: Measure, capacity = CAPACITY): Tally {
  const keyOf = values[field];
  let sums = new Map<string | number, Sums>();
  const total: Sums = { bytes: 0, packets: 0, flows: 0 };
  let dropped = 0;
  let missing: Count = 0;

  const ranked = () => [...sums].sort(([, a], [, b]) => descending(a[by], b[by]));
  /**
   * Drops the smaller half. It sorts only the numbers to find the median: sorting all entries would take most of the
   * time.
   */
  const shrink = () => {
    const sizes = new Float64Array(sums.size);
    let at = 0;
    for (const each of sums.values()) sizes[at++] = Number(each[by]);
    sizes.sort();
    const smallestKept = sizes[sizes.length - capacity] ?? 0;
    // Of several sums of this size, only some fit.
    let tiesToKeep = capacity - (sizes.length - countUpTo(sizes, smallestKept));
    const kept = new Map<string | number, Sums>();
    let largestDropped: Count = 0;
    for (const [value, sum] of sums) {
      const size = Number(sum[by]);
      if (size > smallestKept || (size === smallestKept && tiesToKeep-- > 0)) kept.set(value, sum);
      else if (sum[by] > largestDropped) largestDropped = sum[by];
    }
    missing = add(missing, largestDropped);
    dropped += sums.size - kept.size;
    sums = kept;
  };
  return {
    add(record) {
      count(total, record);
      const value = keyOf(record);
      const known = sums.get(value);
      if (known) return count(known, record);
      sums.set(value, { bytes: record.bytes, packets: record.packets, flows: 1 });
      if (sums.size >= 2 * capacity) shrink();
    },
    top(rows) {
      const whole = Number(total[by]);
      return {
        field,
        by,
        total,
        dropped,
        missing,
        rows: ranked()
          .slice(0, rows)
          .filter(([, sum]) => sum[by] > missing || missing === 0)
          .map(([value, sum]) => ({ value, ...sum, share: whole === 0 ? 0 : Number(sum[by]) / whole })),
      };
    },
  };
}

function count(sums: Sums, { bytes, packets }: FlowRecord): void {
  sums.bytes = add(sums.bytes, bytes);
  sums.packets = add(sums.packets, packets);
  sums.flows = add(sums.flows, 1);
}

const descending = (a: Count, b: Count) => (a < b ? 1 : a > b ? -1 : 0);

/** How many of the sorted numbers are at most `value`. */
function countUpTo(sorted: Float64Array, value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
