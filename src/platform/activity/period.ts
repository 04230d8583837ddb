import type { Clock } from "../../runtime/clock.ts";
import { Retry } from "../answers/errors.ts";
import type { ReadOptions } from "../products/paging.ts";
import { entryOf } from "./entry.ts";
import { type ActivityPage, type ActivitySource, activityPage, type Getter, type Period } from "./log.ts";
import { readPages } from "./read.ts";

/** The cached entries of whole days, and the period that they cover. */
interface Kept extends Period {
  readAt: number;
  contract: number;
  sources: ActivitySource[];
}

/** Connections to platforms that know dates but no times of day. */
const byDays = new WeakMap<object, { kept?: Kept }>();

/** A neighbouring period that is asked for soon afterwards is answered from the cache. */
const FRESH_MS = 5_000;
const AROUND_MS = 900_000;
/** Maximum entries to read for one period. */
const MOST_READ = 200_000;

/**
 * The entries of a period from an offset. A platform that knows only dates also returns entries outside of the period:
 * from then on, whole days are read and filtered.
 */
export async function periodPage(
  clock: Clock,
  connection: Pick<Getter, "send">,
  api: string,
  page: { contract: number; time: Period; offset: number; limit: number },
  options: ReadOptions,
): Promise<ActivityPage> {
  if (!byDays.has(connection)) {
    const answer = await activityPage(connection, api, page, options);
    if (answer.sources.every(isIn(page.time))) return answer;
    byDays.set(connection, {});
  }
  const { contract, time, offset, limit } = page;
  const days = { start: dateOf(time.from), end: dateOf(time.to - 1) };
  const state = byDays.get(connection) ?? {};
  if (!state.kept || !covers(state.kept, page, clock.monotonic())) {
    const around = { from: time.from - AROUND_MS, to: time.to + AROUND_MS };
    const readAt = clock.monotonic();
    const sources: ActivitySource[] = [];
    await readPages(async (from) => {
      if (from > MOST_READ) throw tooMany(days);
      const { sources: all } = await activityPage(connection, api, { contract, time: days, offset: from }, options);
      sources.push(...all.filter(isIn(around)));
      return all;
    });
    state.kept = { ...within(around, days), readAt, contract, sources };
  }
  const found = state.kept.sources.filter(isIn(time));
  const sources = found.slice(offset, offset + limit);
  return { sources, total: found.length, bytes: JSON.stringify(sources).length };
}

function tooMany({ start, end }: { start: string; end: string }): Retry {
  const detail = `from ${start} to ${end} there are more than ${MOST_READ} entries, and the platform cannot show a part of a day`;
  return new Retry({ call: "GET /activitylog/v1/contracts", status: 200, detail }, "no");
}

const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** An entry without a time belongs to every period. */
const isIn =
  ({ from, to }: Period) =>
  (source: ActivitySource): boolean => {
    const time = entryOf(source)?.time ?? from;
    return time >= from && time < to;
  };

/** The part of a period within the days that were read. */
const within = ({ from, to }: Period, days: { start: string; end: string }): Period => ({
  from: Math.max(from, Date.parse(days.start)),
  to: Math.min(to, Date.parse(days.end) + 86_400_000),
});

const covers = (kept: Kept, { contract, time }: { contract: number; time: Period }, now: number): boolean =>
  kept.contract === contract && kept.from <= time.from && kept.to >= time.to && now - kept.readAt < FRESH_MS;
