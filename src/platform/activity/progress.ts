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

/**
 * How far an export is. Where the next window begins and ends follows from this alone, and never from the clock: what was
 * delivered before a crash is delivered again in the same pieces.
 */
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

/** How long it takes until the next window can be read, by the platform's clock; 0 when it can. */
export const dueIn = (progress: Progress, now: number): number =>
  Math.max(0, nextPeriod(progress).to + SETTLE_MS - now);

/**
 * Has the hours that an export is behind read as hours. Unless it is new, the first one stays minutes: windows up to an hour
 * after what is on record may have been delivered, and not been put on record any more.
 */
export function withHours(progress: Progress, now: number, isNew: boolean): Progress {
  const { time, hours } = progress;
  if (hours || now - time < BEHIND_MS) return progress;
  const from = floor(time + (isNew ? 0 : HOUR_MS) + HOUR_MS - 1, HOUR_MS);
  const to = floor(now - LATE_MS, HOUR_MS);
  return to > from ? { ...progress, hours: { from, to } } : progress;
}

/** Behind a window that was read at this time of the platform. */
export function advanced(
  { hours, slices }: Progress,
  { from, to }: Period,
  { total, lines }: { total: number; lines: readonly Line[] },
  now: number,
): Progress {
  const base = { time: to, ...(hours && hours.to > to && { hours }) };
  // Whatever comes late to a time that was over for so long came before it was read.
  if (now >= to + LATE_MS) return { ...base, slices: [] };
  const minute = floor(from, MINUTE_MS);
  const kept = slices.filter((slice) => slice.from !== minute && slice.from + MINUTE_MS > to - LATE_MS);
  const before = slices.find((slice) => slice.from === minute);
  return { ...base, slices: [...kept, { from: minute, ...extended(before, total, lines) }] };
}

function extended(before: Slice | undefined, total: number, lines: readonly Line[]): Omit<Slice, "from"> {
  const sketch = readSketch(before?.sketch ?? "");
  for (const { id } of lines) addTo(sketch, id);
  return { total: (before?.total ?? 0) + total, sketch: writtenSketch(sketch) };
}
