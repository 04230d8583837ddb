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
 * during the read is read up to its original end. If it grows at its beginning, an entry may come twice, but none is
 * missing.
 */
export async function* partsOf(read: ReadPage, from: From): AsyncGenerator<ActivitySource[]> {
  const first = await read(0);
  const size = first.sources.length;
  if (size === 0) return;
  const rest = (offset: number) => oneByOne(read, offset, first.sources);
  if (first.total === undefined) {
    yield first.sources;
    yield* rest(size);
    return;
  }
  // The reported total may be too small.
  const reportedEnd = Math.max(first.total, size);
  const offsets = Array.from({ length: Math.ceil(first.total / size) - 1 }, (_, nth) => (nth + 1) * size);
  if (from(first.sources) === "end") {
    const more: ActivitySource[][] = [];
    for await (const part of rest(reportedEnd)) more.push(part);
    yield* more.reverse();
    for (let end = offsets.length; end > 0; end -= SIDE_BY_SIDE) {
      const pages = offsets.slice(Math.max(0, end - SIDE_BY_SIDE), end);
      yield (await Promise.all(pages.map((offset) => readUpTo(read, offset, size)))).flatMap(({ sources }) => sources);
    }
    yield first.sources;
    return;
  }
  yield first.sources;
  for (let begin = 0; begin < offsets.length; begin += SIDE_BY_SIDE) {
    const pages = await Promise.all(
      offsets.slice(begin, begin + SIDE_BY_SIDE).map((offset) => readUpTo(read, offset, size)),
    );
    yield pages.flatMap(({ sources }) => sources);
    // New entries at the beginning moved others to a later page, which may have been read already.
    if (pages.some(({ total }) => total !== first.total)) {
      yield* rest(offsets[begin] ?? 0);
      return;
    }
  }
  yield* rest(reportedEnd);
}

/** Reads this many entries from an offset, in as many answers as the platform needs. */
async function readUpTo(read: ReadPage, offset: number, size: number): Promise<ActivityPage> {
  const sources: ActivitySource[] = [];
  for (;;) {
    const page = await read(offset + sources.length);
    sources.push(...page.sources);
    if (page.sources.length === 0 || sources.length >= size)
      return { sources: sources.slice(0, size), total: page.total };
  }
}

/** Reads page after page until one is empty or repeats the page before, as on platforms that ignore the offset. */
async function* oneByOne(
  read: ReadPage,
  from: number,
  first: readonly ActivitySource[],
): AsyncGenerator<ActivitySource[]> {
  let before = JSON.stringify(first);
  for (let offset = from; ; ) {
    const { sources } = await read(offset);
    const text = JSON.stringify(sources);
    if (sources.length === 0 || text === before) return;
    yield sources;
    before = text;
    offset += sources.length;
  }
}
