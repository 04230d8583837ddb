import type { Period } from "./log.ts";
import { addTo, readSketch, writtenSketch } from "./sketch.ts";

export const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** The maximum delay after which an entry that appears late in the log is still found. */
export const LATE_MS = 600_000;
/** The delay after the end of a minute before it is read. By then almost all of its entries are there. */
const SETTLE_MS = 10_000;
/** An export that is further behind reads whole hours. */
const BEHIND_MS = 2 * HOUR_MS;

/** An entry in the form in which it is delivered. */
export interface Line {
  /** The first 32 digits of its SHA-256, because entries have no id. */
  id: string;
  time: number;
  /** The original JSON. */
  text: string;
}

/** A delivered minute that may still get late entries. */
export interface Slice {
  from: number;
  /** Number of entries that the platform had. */
  total: number;
  sketch: string;
}

/** The progress of an export. The next window depends only on this and the entries, never on the clock. */
export interface Progress {
  /** All entries before this time are delivered, except late ones. */
  time: number;
  /** The period that is read by the hour; the rest is read by the minute. */
  hours?: Period | undefined;
  slices: readonly Slice[];
}

const floor = (at: number, ms: number): number => at - (at % ms);

export const begunAt = (time: number): Progress => ({ time: floor(time, MINUTE_MS), slices: [] });

/** The period of the next entries. It never crosses the end of an hour. */
export function nextPeriod({ time, hours }: Progress): Period {
  const isHour = hours !== undefined && time >= hours.from && time < hours.to;
  const ms = isHour ? HOUR_MS : MINUTE_MS;
  return { from: time, to: floor(time, ms) + ms };
}

/** When the next window can be read, by the platform's clock. */
export const dueAt = (progress: Progress): number => nextPeriod(progress).to + SETTLE_MS;

/** Milliseconds until the next window can be read; 0 if it can be read now. */
export const dueIn = (progress: Progress, now: number): number => Math.max(0, dueAt(progress) - now);

/** Switches to reading by the hour for the hours that an export is behind. */
export function withHours(progress: Progress, now: number): Progress {
  const { time, hours } = progress;
  if (hours || now - time < BEHIND_MS) return progress;
  const from = floor(time + HOUR_MS - 1, HOUR_MS);
  const to = floor(now - LATE_MS, HOUR_MS);
  return to > from ? { ...progress, hours: { from, to } } : progress;
}

/** The delivered entries of a period; `total` is the number that the platform had. */
interface Delivered {
  period: Period;
  total: number;
  lines: readonly Line[];
}

/** The progress after a delivery: of the next entries, or of late ones in an earlier minute. */
export function advanced(progress: Progress, { period, total, lines }: Delivered, readAt: number): Progress {
  const { time, hours, slices } = progress;
  const { from, to } = period;
  if (from < time) {
    const late = (slice: Slice) => ({ ...slice, total, sketch: extended(slice, 0, lines).sketch });
    return { ...progress, slices: slices.map((slice) => (slice.from === from ? late(slice) : slice)) };
  }
  const base = { time: to, ...(hours && hours.to > to && { hours }) };
  // The period was over for so long that all late entries were already there when it was read.
  if (readAt >= to + LATE_MS) return { ...base, slices: [] };
  const minute = floor(from, MINUTE_MS);
  const kept = slices.filter((slice) => slice.from !== minute && slice.from + MINUTE_MS > to - LATE_MS);
  const before = slices.find((slice) => slice.from === minute);
  return { ...base, slices: [...kept, { from: minute, ...extended(before, total, lines) }] };
}

/** Forgets which entries of this minute were delivered: all of them count as late. */
export const reset = (slices: readonly Slice[], from: number): readonly Slice[] =>
  slices.map((slice) => (slice.from === from ? { from, total: 0, sketch: "" } : slice));

function extended(before: Slice | undefined, total: number, lines: readonly Line[]): Omit<Slice, "from"> {
  const sketch = readSketch(before?.sketch ?? "");
  for (const { id } of lines) addTo(sketch, id);
  return { total: (before?.total ?? 0) + total, sketch: writtenSketch(sketch) };
}
