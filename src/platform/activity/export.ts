import { createHash } from "node:crypto";
import type { Clock } from "../../runtime/clock.ts";
import { yieldIfDue } from "../../runtime/time-slices.ts";
import { Retry } from "../answers/errors.ts";
import { type Entry, entryOf } from "./entry.ts";
import { type ActivityPage, activityPageSize, type Period } from "./log.ts";
import { type Line, MINUTE_MS, type Progress, reset, type Slice } from "./progress.ts";
import { readPages } from "./read.ts";
import { divide, readSketch } from "./sketch.ts";

/** The log of one contract. */
export interface ActivityLog {
  clock: Clock;
  page(period: Period, offset: number, limit: number): Promise<ActivityPage>;
  /** Entries that are counted but not delivered. */
  leavesOut?(entry: Entry): boolean;
}

/** The entries of a period, ordered by time and id, so that equal entries always give equal text. */
export interface Window {
  period: Period;
  /** The number of entries that the platform reports. */
  total: number;
  lines: Line[];
}

/** Maximum entries to read, whatever the platform reports. */
const MOST_READ = 200_000;

/** Reads the entries of a period. The period is halved until it has no more entries than one delivery. */
export async function readWindow(log: ActivityLog, period: Period, most: number): Promise<Window> {
  const { from } = period;
  for (let { to } = period; ; ) {
    const first = await readPage(log, { from, to }, 0, activityPageSize);
    if (first.total <= most || to - from === 1) return readFrom(log, { from, to }, first);
    const halvings = Math.max(1, Math.ceil(Math.log2(first.total / most)));
    to = from + Math.max(1, Math.floor((to - from) / 2 ** halvings));
  }
}

export const readPeriod = async (log: ActivityLog, period: Period): Promise<Window> =>
  readFrom(log, period, await readPage(log, period, 0, activityPageSize));

/** The first minute with late entries, these entries, and the state of the minutes before their delivery. */
export async function readLate(
  log: ActivityLog,
  { time, slices }: Progress,
): Promise<{ late: Window | undefined; slices: readonly Slice[] }> {
  const [first] = slices;
  const totalOf = async (period: Period) => (await readPage(log, period, 0, 1)).total;
  const known = slices.reduce((sum, { total }) => sum + total, 0);
  if (!first || (await totalOf({ from: first.from, to: time })) === known) return { late: undefined, slices };
  let updated = slices;
  for (const { from, total, sketch } of slices) {
    const period = { from, to: Math.min(from + MINUTE_MS, time) };
    if ((await totalOf(period)) === total) continue;
    const all = await readPeriod(log, period);
    const divided = divide(readSketch(sketch), all.lines);
    // There are too many late entries to tell them from delivered ones, so all entries are delivered again.
    if (!divided) return { late: all, slices: reset(updated, from) };
    if (divided.others.length > 0) return { late: { ...all, lines: divided.others }, slices: updated };
    updated = updated.map((slice) => (slice.from === from ? { ...slice, total: all.total } : slice));
  }
  return { late: undefined, slices: updated };
}

type Counted = ActivityPage & { total: number };

async function readPage(log: ActivityLog, period: Period, offset: number, limit: number): Promise<Counted> {
  const { sources, total } = await log.page(period, offset, limit);
  if (total === undefined) throw unusable("hits.total is missing");
  const outside = sources.find((source) => {
    const time = entryOf(source)?.time ?? period.from;
    return time < period.from || time >= period.to;
  });
  if (outside) throw unusable("it has entries outside of the requested period");
  return { sources, total };
}

const unusable = (detail: string) =>
  new Retry({ call: "GET /activitylog/v1/contracts", status: 200, detail: `unexpected body: ${detail}` }, "no");

async function readFrom(log: ActivityLog, period: Period, first: Counted): Promise<Window> {
  const found = await readPages(async (offset) => {
    if (offset > MOST_READ) throw unusable(`more than ${MOST_READ} entries between two moments`);
    // Also asks for the entries after the last page, because the platform may return less than a full page.
    return offset === 0 ? first.sources : (await readPage(log, period, offset, activityPageSize)).sources;
  });
  const lines: Line[] = [];
  for (const [text, source] of found) {
    const entry = entryOf(source);
    if (!entry || !log.leavesOut?.(entry)) {
      const id = createHash("sha256").update(text).digest("hex").slice(0, 32);
      lines.push({ id, time: entry?.time ?? period.from, text });
    }
    const pause = yieldIfDue(log.clock);
    if (pause) await pause;
  }
  lines.sort((a, b) => a.time - b.time || (a.id < b.id ? -1 : 1));
  return { period, total: first.total, lines };
}
