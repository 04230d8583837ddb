import { type Entry, entryIdentity, entryOf } from "./entry.ts";
import type { ActivityPage, ActivitySource, Days, Period } from "./log.ts";
import { partsOf } from "./pages.ts";
import { readRange } from "./range.ts";

export const RETENTION_MS = 35 * 86_400_000;
const DAY_MS = 86_400_000;
/** Until this long after midnight, entries of the day before may still arrive. */
const LATE_MS = 3_600_000;

export interface LogReadOptions {
  /** The entries of a period from an offset; empty after the last entry. */
  page(time: Days | Period, offset: number): Promise<ActivityPage>;
  /** The platform's time. */
  now(): number;
  since: number;
  /** Exclusive. Undefined: up to now. */
  until?: number | undefined;
  /** Waits before the next poll of a log that is followed; undefined: the log is read once. */
  pause?: (() => Promise<void>) | undefined;
}

const startOfDay = (at: number) => at - (at % DAY_MS);
const startOfOpenDays = (now: number) => startOfDay(now - LATE_MS);
const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10);

/** Reads the log from `since` and yields the entries in batches, oldest first, each entry once. */
export async function* readActivity(options: LogReadOptions): AsyncGenerator<Entry[]> {
  const { now, page, pause } = options;
  const since = Math.max(options.since, now() - RETENTION_MS);
  const range = (to: number) => readRange({ page, period: { from: since, to }, order: "oldest first" });
  // The time of an entry may be slightly ahead of this clock.
  if (pause === undefined) return yield* range(options.until ?? now() + LATE_MS);
  yield* range(startOfOpenDays(now()));
  const recent = createRecent(options);
  const next = async () =>
    (await recent.next())
      .flatMap((source) => entryOf(source) ?? [])
      .filter(({ time }) => time >= since)
      .sort((a, b) => a.time - b.time);
  yield await next();
  for (;;) {
    await pause();
    yield await next();
  }
}

/** Reads the days that are not over again and again. Each call returns the new entries. */
function createRecent(options: LogReadOptions): { next(): Promise<ActivitySource[]> } {
  let start = "";
  /** In the order of the platform's list. */
  let order: string[] = [];
  let known = new Set<string>();

  /** Reads the entries after the last known one if that is still in its place; else the whole list. */
  async function read(): Promise<{ sources: ActivitySource[]; whole: boolean }> {
    const last = order.at(-1);
    if (last !== undefined) {
      const [anchor, ...rest] = await readAll(options, { start }, order.length - 1);
      if (anchor !== undefined && entryIdentity(anchor) === last) return { sources: rest, whole: false };
    }
    return { sources: await readAll(options, { start }), whole: true };
  }

  return {
    async next() {
      const today = dateOf(startOfOpenDays(options.now()));
      if (today !== start) {
        start = today;
        order = [];
      }
      const { sources, whole } = await read();
      const identities = sources.map(entryIdentity);
      const fresh = sources.filter((_, at) => !known.has(identities[at] ?? ""));
      order = whole ? identities : [...order, ...identities];
      known = new Set(order);
      return fresh;
    },
  };
}

/** Reads all pages until one is empty, each entry once. The platform may return less than a full page. */
export async function readPages(
  page: (offset: number) => Promise<ActivitySource[]>,
  from = 0,
): Promise<Map<string, ActivitySource>> {
  const all = new Map<string, ActivitySource>();
  for (let offset = from; ; ) {
    const sources = await page(offset);
    const before = all.size;
    for (const source of sources) all.set(entryIdentity(source), source);
    // Nothing new: the end of the list, or a list that ignores the offset.
    if (all.size === before) return all;
    offset += sources.length;
  }
}

/** All entries of some days from an offset, in the order of the list. */
async function readAll({ page }: LogReadOptions, days: Days, from = 0): Promise<ActivitySource[]> {
  const all = new Map<string, ActivitySource>();
  const read = async (offset: number) => {
    const { sources, total } = await page(days, from + offset);
    return { sources, total: total === undefined ? undefined : Math.max(0, total - from) };
  };
  for await (const part of partsOf(read, () => "begin")) for (const each of part) all.set(entryIdentity(each), each);
  return [...all.values()];
}
