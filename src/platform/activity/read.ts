import { type Entry, entryOf, identityOf } from "./entry.ts";
import type { ActivityPage, ActivitySource, Days, Period } from "./log.ts";
import { partsOf } from "./pages.ts";
import { readRange } from "./range.ts";

export const RETENTION_MS = 35 * 86_400_000;
const DAY_MS = 86_400_000;
/** Entries that arrive late belong to the day before until then. */
const LATE_MS = 3_600_000;

export interface ReadOptions {
  /** The entries of a time from an offset on; none behind the last one. */
  page(time: Days | Period, offset: number): Promise<ActivityPage>;
  /** By the platform's clock. */
  now(): number;
  since: number;
  /** Not a part of it. Undefined: up to now. */
  until?: number | undefined;
  /** Waits before the next look at a log that is followed; undefined: it is read once. */
  pause?: (() => Promise<void>) | undefined;
}

const startOfDay = (at: number) => at - (at % DAY_MS);
const startOfOpenDays = (now: number) => startOfDay(now - LATE_MS);
const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10);

/** Reads the log from `since` on and gives the entries in batches, oldest first, each entry once. */
export async function* readActivity(options: ReadOptions): AsyncGenerator<Entry[]> {
  const { now, page, pause } = options;
  const since = Math.max(options.since, now() - RETENTION_MS);
  const range = (to: number) => readRange({ page, period: { from: since, to }, order: "oldest first" });
  // An entry may carry a time a little ahead of the clock that is asked.
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

/** The days that are not over, read again and again: what is new each time. */
function createRecent(options: ReadOptions): { next(): Promise<ActivitySource[]> } {
  let start = "";
  /** As the platform has them in its list. */
  let order: string[] = [];
  let known = new Set<string>();

  /** Behind the last known entry, as long as the list still has that one in its place; else all of it. */
  async function read(): Promise<{ sources: ActivitySource[]; whole: boolean }> {
    const last = order.at(-1);
    if (last !== undefined) {
      const [anchor, ...rest] = await readAll(options, { start }, order.length - 1);
      if (anchor !== undefined && identityOf(anchor) === last) return { sources: rest, whole: false };
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
      const identities = sources.map(identityOf);
      const fresh = sources.filter((_, at) => !known.has(identities[at] ?? ""));
      order = whole ? identities : [...order, ...identities];
      known = new Set(order);
      return fresh;
    },
  };
}

/** Each entry once, by its identity, page after page until an empty one; the platform may give less at once than was asked for. */
export async function readPages(
  page: (offset: number) => Promise<ActivitySource[]>,
  from = 0,
): Promise<Map<string, ActivitySource>> {
  const all = new Map<string, ActivitySource>();
  for (let offset = from; ; ) {
    const sources = await page(offset);
    const before = all.size;
    for (const source of sources) all.set(identityOf(source), source);
    // Nothing new: behind the last page, or a list that ignores the offset.
    if (all.size === before) return all;
    offset += sources.length;
  }
}

/** All entries of some days from an offset on, as the list has them. */
async function readAll({ page }: ReadOptions, days: Days, from = 0): Promise<ActivitySource[]> {
  const all = new Map<string, ActivitySource>();
  const read = async (offset: number) => {
    const { sources, total } = await page(days, from + offset);
    return { sources, total: total === undefined ? undefined : Math.max(0, total - from) };
  };
  for await (const part of partsOf(read, () => "begin")) for (const each of part) all.set(identityOf(each), each);
  return [...all.values()];
}
