import type { ActivityPage, ActivitySource } from "./log.ts";

/** Reads the entries from an offset on; none behind the last one. */
export type ReadPage = (offset: number) => Promise<ActivityPage>;

/** So many pages are read at the same time. */
const SIDE_BY_SIDE = 8;

export type Order = "oldest first" | "newest first";

/** The order of a list by a part of it; undefined when it has none, or the part is too short to tell. */
export function orderOf(times: readonly number[]): Order | undefined {
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  if (first === last) return undefined;
  const ascends = first < last;
  const isOrdered = times.every(
    (time, at) => at === 0 || time === times[at - 1] || time > (times[at - 1] ?? 0) === ascends,
  );
  return isOrdered ? (ascends ? "oldest first" : "newest first") : undefined;
}

/** Which part of a list is given first, by its first page. */
export type From = (first: readonly ActivitySource[]) => "begin" | "end";

/**
 * Gives a whole list in parts, from its begin or from its end; within a part entries stand as in the list. Pages are read side by
 * side as soon as the first one has told how many entries there are. Where the platform does not tell that, page after page.
 * A list that grows while it is read is read to where it ended at first; one that grows at its begin may give an entry twice, and
 * leaves none out.
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
  // The number that is told need not be all.
  const behind = Math.max(first.total, size);
  const offsets = Array.from({ length: Math.ceil(first.total / size) - 1 }, (_, nth) => (nth + 1) * size);
  if (from(first.sources) === "end") {
    const more: ActivitySource[][] = [];
    for await (const part of rest(behind)) more.push(part);
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
    // What came at the begin has pushed entries from one page to the next, which may have been read before.
    if (pages.some(({ total }) => total !== first.total)) {
      yield* rest(offsets[begin] ?? 0);
      return;
    }
  }
  yield* rest(behind);
}

/** So many entries from an offset on, in as many answers as the platform needs for them. */
async function readUpTo(read: ReadPage, offset: number, size: number): Promise<ActivityPage> {
  const sources: ActivitySource[] = [];
  for (;;) {
    const page = await read(offset + sources.length);
    sources.push(...page.sources);
    if (page.sources.length === 0 || sources.length >= size)
      return { sources: sources.slice(0, size), total: page.total };
  }
}

/** Page after page until an empty one, or one that repeats the page before: some platforms ignore the offset. */
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
