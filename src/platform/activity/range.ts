import { type Entry, entryIdentity, entryOf } from "./entry.ts";
import type { ActivityPage, ActivitySource, Days, Period } from "./log.ts";
import { type Order, orderOf, partsOf } from "./pages.ts";

export interface RangeOptions {
  /** The entries of a period from an offset; empty after the last entry. */
  page(time: Days | Period, offset: number): Promise<ActivityPage>;
  period: Period;
  order: Order;
}

/**
 * All entries of a period, each once, in batches and in the given order. The platform is asked for the exact period; if
 * it knows only dates, for whole days. A list without an order is read completely and then sorted.
 */
export async function* readRange({ page, period, order }: RangeOptions): AsyncGenerator<Entry[]> {
  if (period.from >= period.to) return;
  const { first, time } = await begin(page, period);
  const read = async (offset: number) => (offset === 0 ? first : page(time, offset));
  const isNew = onceEach();
  const newEntries = (sources: readonly ActivitySource[]) =>
    sources.filter(isNew).flatMap((source) => entriesOf(source, period));

  const listOrder = orderOf(timesOf(first.sources));
  let unordered = listOrder === undefined;
  const kept: Entry[] = [];
  /** The time of the last entry that was yielded. */
  let lastTime: number | undefined;
  const isBehind = (time: number) =>
    lastTime !== undefined && (order === "oldest first" ? time < lastTime : time > lastTime);
  const isReversed = listOrder !== undefined && listOrder !== order;
  for await (const part of partsOf(read, () => (isReversed ? "end" : "begin"))) {
    const batch = sorted(newEntries(isReversed ? part.reverse() : part), order);
    const [nearest] = batch;
    unordered ||= nearest !== undefined && isBehind(nearest.time);
    if (unordered) {
      kept.push(...batch);
      continue;
    }
    lastTime = batch.at(-1)?.time ?? lastTime;
    if (batch.length > 0) yield batch;
  }
  const all = new Map(kept.map((entry) => [entryIdentity(entry.source), entry]));
  if (all.size > 0) yield sorted([...all.values()], order);
}

const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10);

/** The first page, and the form of the period that the platform supports. */
async function begin(page: RangeOptions["page"], period: Period) {
  const first = await page(period, 0);
  const isIn = (time: number) => time >= period.from && time < period.to;
  if (timesOf(first.sources).every(isIn)) return { first, time: period };
  const days = { start: dateOf(period.from), end: dateOf(period.to - 1) };
  return { first: await page(days, 0), time: days };
}

const timesOf = (sources: readonly ActivitySource[]): number[] =>
  sources.flatMap((source) => entryOf(source)?.time ?? []);

function entriesOf(source: ActivitySource, { from, to }: Period): Entry[] {
  const entry = entryOf(source);
  return entry && entry.time >= from && entry.time < to ? [entry] : [];
}

const sorted = (entries: Entry[], order: Order): Entry[] =>
  entries.sort((a, b) => (order === "oldest first" ? a.time - b.time : b.time - a.time));

/**
 * The minimum number of entries that are remembered to find duplicates. Lists do not repeat entries over a longer
 * distance.
 */
const REMEMBERED = 20_000;

/** Whether an entry is new. Only entries with the same time are compared completely. */
function onceEach(): (source: ActivitySource) => boolean {
  /** By time: the only entry so far, or the identities of all entries. */
  type Seen = Map<number, ActivitySource | Set<string>>;
  let [current, former]: [Seen, Seen] = [new Map(), new Map()];
  return (source) => {
    const time = entryOf(source)?.time ?? 0;
    const known = current.get(time) ?? former.get(time);
    if (known === undefined) {
      if (current.size >= REMEMBERED) [current, former] = [new Map(), current];
      current.set(time, source);
      return true;
    }
    const identities = known instanceof Set ? known : new Set([entryIdentity(known)]);
    current.set(time, identities);
    const before = identities.size;
    return identities.add(entryIdentity(source)).size > before;
  };
}
