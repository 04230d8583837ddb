import type { ActivityPage, ActivitySource } from "./log.ts";

/** Reads the entries from an offset; empty after the last entry. */
export type ReadPage = (offset: number) => Promise<ActivityPage>;

/** Maximum concurrent page reads. */
const SIDE_BY_SIDE = 8;

export type Order = "oldest first" | "newest first";

/** The order of a list, judged by a part of it; undefined if it has none or the part is too short. */
export function orderOf(times: readonly number[]): Order | undefined {
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  if (first === last) return undefined;
  const ascends = first < last;
  const isOrdered = times.every(
    (time, at) => at === 0 || time === times[at - 1] || time > (times[at - 1] ?? 0) === ascends,
  );
  return isOrdered ? (ascends ? "oldest first" : "newest first") : undefined;
}

/** Decides by the first page which end of the list is read first. */
export type From = (first: readonly ActivitySource[]) => "begin" | "end";

/**
 * Yields a whole list in parts, from its beginning or its end; within a part, entries keep the order of the list. Pages
 * are read concurrently once the first page shows the total; without a total, one after the other. A list that grows
 * during the read, wherever that is, is read up to its original end. An entry may then come twice, but none is missing.
 */
export async function* partsOf(read: ReadPage, from: From): AsyncGenerator<ActivitySource[]> {
  const first = await read(0);
  const { total } = first;
  const size = first.sources.length;
  if (size === 0) return;
  const rest = (offset: number) => oneByOne(read, offset, total);
  if (total === undefined) {
    yield first.sources;
    yield* rest(size);
    return;
  }
  // The reported total may be too small.
  const reportedEnd = Math.max(total, size);
  const offsets = Array.from({ length: Math.ceil(total / size) - 1 }, (_, nth) => (nth + 1) * size);
  const sideBySide = (some: readonly number[]) =>
    Promise.all(some.map((offset) => readUpTo(read, offset, size, total - offset - size)));
  if (from(first.sources) === "end") {
    const more: ActivitySource[][] = [];
    for await (const part of rest(reportedEnd)) more.push(part);
    yield* more.reverse();
    for (let end = offsets.length; end > 0; end -= SIDE_BY_SIDE) {
      const pages = await sideBySide(offsets.slice(Math.max(0, end - SIDE_BY_SIDE), end));
      yield pages.flatMap(({ sources }) => sources);
    }
    yield first.sources;
    return;
  }
  yield first.sources;
  for (let begin = 0; begin < offsets.length; begin += SIDE_BY_SIDE) {
    const pages = await sideBySide(offsets.slice(begin, begin + SIDE_BY_SIDE));
    yield pages.flatMap(({ sources }) => sources);
    // Entries were removed: others moved to an earlier page, which may have been read already.
    if (pages.some((page) => page.total === undefined || page.total < total)) {
      yield* rest(offsets[begin] ?? 0);
      return;
    }
  }
  yield* rest(reportedEnd);
}

/**
 * Reads this many entries from an offset, in as many answers as the platform needs, and on until at most `behind`
 * entries follow: entries that are new in the list move others behind the range, where no other page has them.
 */
async function readUpTo(read: ReadPage, offset: number, size: number, behind: number): Promise<ActivityPage> {
  const sources: ActivitySource[] = [];
  for (;;) {
    const { sources: some, total } = await read(offset + sources.length);
    sources.push(...some);
    const isWhole = sources.length >= size && (total === undefined || total - offset - sources.length <= behind);
    if (some.length === 0 || isWhole) return { sources, total };
  }
}

/**
 * Reads page after page until one is empty or repeats the page before, as on platforms that ignore the offset. A total that
 * becomes smaller shows that entries were removed: the others are read from where they may be now. That happens for as
 * many entries as there were, because a platform may report any total.
 */
async function* oneByOne(read: ReadPage, from: number, first: number | undefined): AsyncGenerator<ActivitySource[]> {
  let before = "";
  let [known, left] = [first, first ?? 0];
  for (let offset = from; ; ) {
    const { sources, total } = await read(offset);
    const removed = known === undefined || total === undefined ? 0 : Math.min(known - total, left, offset);
    known = total;
    if (removed > 0) {
      left -= removed;
      offset -= removed;
      continue;
    }
    const text = JSON.stringify(sources);
    if (sources.length === 0 || text === before) return;
    yield sources;
    before = text;
    offset += sources.length;
  }
}
