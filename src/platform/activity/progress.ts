import type { Period } from "./log.ts";
import { addTo, readSketch, writtenSketch } from "./sketch.ts";

export const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** An entry may appear in the log so long after its time, and is still found. */
export const LATE_MS = 600_000;
/** So long after its end a minute is read: by then nearly all of its entries are there. */
const SETTLE_MS = 10_000;
/** An export that is further behind than that reads whole hours. */
const BEHIND_MS = 2 * HOUR_MS;

/** An entry as it is delivered. */
export interface Line {
  /** 32 digits of its SHA-256: entries have no id of their own. */
  id: string;
  time: number;
  /** JSON, as the platform sent it. */
  text: string;
}

/** A minute that was delivered, and that late entries may still come to. */
export interface Slice {
  from: number;
  /** How many entries the platform had of it. */
  total: number;
  sketch: string;
}

/** How far an export is. Where the next window begins and ends follows from this and the entries, never from the clock. */
export interface Progress {
  /** All entries before this time are delivered, but for late ones. */
  time: number;
  /** Times that are read by the hour; the rest is read by the minute. */
  hours?: Period | undefined;
  slices: readonly Slice[];
}

const floor = (at: number, ms: number): number => at - (at % ms);

export const begunAt = (time: number): Progress => ({ time: floor(time, MINUTE_MS), slices: [] });

/** The time whose entries are next. It ends with an hour at the latest. */
export function nextPeriod({ time, hours }: Progress): Period {
  const isHour = hours !== undefined && time >= hours.from && time < hours.to;
  const ms = isHour ? HOUR_MS : MINUTE_MS;
  return { from: time, to: floor(time, ms) + ms };
}

/** When the next window can be read. */
export const dueAt = (progress: Progress): number => nextPeriod(progress).to + SETTLE_MS;

/** How long it takes until the next window can be read; 0 when it can. */
export const dueIn = (progress: Progress, now: number): number => Math.max(0, dueAt(progress) - now);

/** Has the hours that an export is behind read as hours. */
export function withHours(progress: Progress, now: number): Progress {
  const { time, hours } = progress;
  if (hours || now - time < BEHIND_MS) return progress;
  const from = floor(time + HOUR_MS - 1, HOUR_MS);
  const to = floor(now - LATE_MS, HOUR_MS);
  return to > from ? { ...progress, hours: { from, to } } : progress;
}

/** What was delivered of a time: so many entries the platform had of it when it was read. */
interface Delivered {
  period: Period;
  total: number;
  lines: readonly Line[];
}

/** With entries that were delivered and read at this time of the platform: the next ones, or late ones of a minute before. */
export function advanced(progress: Progress, { period, total, lines }: Delivered, readAt: number): Progress {
  const { time, hours, slices } = progress;
  const { from, to } = period;
  if (from < time) {
    const late = (slice: Slice) => ({ ...slice, total, sketch: extended(slice, 0, lines).sketch });
    return { ...progress, slices: slices.map((slice) => (slice.from === from ? late(slice) : slice)) };
  }
  const base = { time: to, ...(hours && hours.to > to && { hours }) };
  // Whatever comes late to a time that was over for so long came before it was read.
  if (readAt >= to + LATE_MS) return { ...base, slices: [] };
  const minute = floor(from, MINUTE_MS);
  const kept = slices.filter((slice) => slice.from !== minute && slice.from + MINUTE_MS > to - LATE_MS);
  const before = slices.find((slice) => slice.from === minute);
  return { ...base, slices: [...kept, { from: minute, ...extended(before, total, lines) }] };
}

/** Nothing is known any more of what was delivered of the minute that begins then: all of it is late. */
export const reset = (slices: readonly Slice[], from: number): readonly Slice[] =>
  slices.map((slice) => (slice.from === from ? { from, total: 0, sketch: "" } : slice));

function extended(before: Slice | undefined, total: number, lines: readonly Line[]): Omit<Slice, "from"> {
  const sketch = readSketch(before?.sketch ?? "");
  for (const { id } of lines) addTo(sketch, id);
  return { total: (before?.total ?? 0) + total, sketch: writtenSketch(sketch) };
}
