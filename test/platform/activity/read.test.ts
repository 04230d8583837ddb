import { describe, expect, it } from "vitest";
import type { Entry } from "../../../src/platform/activity/entry.ts";
import type { ActivityPage, ActivitySource, Days, Period } from "../../../src/platform/activity/log.ts";
import type { Order } from "../../../src/platform/activity/pages.ts";
import { readRange } from "../../../src/platform/activity/range.ts";
import { type LogReadOptions, readActivity } from "../../../src/platform/activity/read.ts";

const at = (time: string) => Date.parse(`${time}Z`);
const source = (time: string, resource = time): ActivitySource => ({ time: `${time}Z`, resource });

/** A log that returns two entries per page, in its own order. */
function logOf(...entries: ActivitySource[]) {
  const asked: string[] = [];
  const page = async (time: Days | Period, offset: number): Promise<ActivityPage> => {
    const isMoments = "from" in time;
    const { start, end = "9" } = isMoments ? { start: isoOf(time.from), end: isoOf(time.to) } : time;
    asked.push(isMoments ? `${start}..${end}+${offset}` : `${start}..${end === "9" ? "" : end}+${offset}`);
    const inside = entries.filter(({ time: at = "" }) =>
      isMoments ? (at ?? "") >= start && (at ?? "") < end : (at ?? "") >= start && (at ?? "").slice(0, 10) <= end,
    );
    return { sources: inside.slice(offset, offset + 2), total: inside.length };
  };
  return { entries, asked, page };
}
const isoOf = (time: number) => new Date(time).toISOString().replace(".000", "");

/** The same log, which accepts only dates without a time. */
const datesOnly =
  ({ page, entries }: ReturnType<typeof logOf>) =>
  async (time: Days | Period, offset: number): Promise<ActivityPage> =>
    "from" in time ? { sources: entries.slice(offset, offset + 2), total: entries.length } : page(time, offset);

async function read(options: Omit<LogReadOptions, "now"> & { now?: () => number }): Promise<string[]> {
  const found: Entry[] = [];
  for await (const batch of readActivity({ now: () => at("2026-03-03T12:00:00"), ...options })) found.push(...batch);
  return found.map(({ resource }) => resource);
}

describe("reading the activity log", () => {
  const around = () =>
    logOf(
      source("2026-03-01T09:00:00", "too early"),
      source("2026-03-01T11:00:00", "a"),
      source("2026-03-02T11:00:00", "b"),
      source("2026-03-03T11:00:00", "c"),
      source("2026-03-03T11:59:00", "too late"),
    );
  const period = { since: at("2026-03-01T10:00:00"), until: at("2026-03-03T11:30:00") };

  it("asks the platform for the very time", async () => {
    const { page, asked } = around();
    expect(await read({ page, ...period })).toEqual(["a", "b", "c"]);
    expect(asked[0]).toBe("2026-03-01T10:00:00Z..2026-03-03T11:30:00Z+0");
  });

  it("asks a platform that knows dates only for whole days, and cuts what was not asked for", async () => {
    const log = around();
    expect(await read({ page: datesOnly(log), ...period })).toEqual(["a", "b", "c"]);
    expect(log.asked[0]).toBe("2026-03-01..2026-03-03+0");
  });

  it("reads pages side by side, a few at a time", async () => {
    const seconds = Array.from({ length: 60 }, (_, nth) => `2026-03-03T01:00:${String(nth).padStart(2, "0")}`);
    const log = logOf(...seconds.map((each) => source(each)));
    let [open, most] = [0, 0];
    const page = async (time: Days | Period, offset: number) => {
      open += 1;
      most = Math.max(most, open);
      await new Promise(setImmediate);
      open -= 1;
      return log.page(time, offset);
    };
    expect(await read({ page, since: at("2026-03-03T00:00:00") })).toEqual(seconds);
    expect(most).toBe(8);
    expect(log.asked).toHaveLength(31);
  });

  it("loses nothing when the platform tells too few, no number, or answers with less than was asked for", async () => {
    const seconds = Array.from({ length: 9 }, (_, nth) => `2026-03-03T01:00:0${nth}`);
    const { page } = logOf(...seconds.map((each) => source(each)));
    const since = at("2026-03-03T00:00:00");
    for (const total of [undefined, 0, 4, 1000]) {
      const withTotal: LogReadOptions["page"] = async (...asked) => ({ ...(await page(...asked)), total });
      expect(await read({ page: withTotal, since })).toEqual(seconds);
    }
    const short: LogReadOptions["page"] = async (time, offset) => {
      const { sources, total } = await page(time, offset);
      return { sources: offset === 4 ? sources.slice(0, 1) : sources, total };
    };
    expect(await read({ page: short, since })).toEqual(seconds);
  });

  const entryTimes = async (entries: ActivitySource[], order: Order, most = Number.POSITIVE_INFINITY) => {
    const log = logOf(...entries);
    const found: string[] = [];
    const period = { from: at("2026-03-03T00:00:00"), to: at("2026-03-04T00:00:00") };
    for await (const batch of readRange({ page: log.page, period, order })) {
      found.push(...batch.map(({ resource }) => resource));
      if (found.length >= most) break;
    }
    return { found, asked: log.asked.length };
  };
  const hundred = Array.from({ length: 100 }, (_, nth) =>
    source(`2026-03-03T${String(nth % 24).padStart(2, "0")}:${String(nth % 60).padStart(2, "0")}:00`, String(nth)),
  );
  const byTime = hundred.toSorted((a, b) => (a.time ?? "").localeCompare(b.time ?? ""));
  const names = (sources: ActivitySource[]) => sources.map(({ resource }) => resource);

  it("gives the newest first when asked, and reads no more than is taken", async () => {
    const newest = names(byTime.toReversed());
    expect((await entryTimes(byTime, "newest first")).found).toEqual(newest);
    expect((await entryTimes(byTime.toReversed(), "newest first")).found).toEqual(newest);
    const few = await entryTimes(byTime, "newest first", 5);
    expect(few.found.slice(0, 5)).toEqual(newest.slice(0, 5));
    expect(few.asked).toBeLessThan(12);
  });

  it("sorts a list that has no order", async () => {
    const { found } = await entryTimes(hundred, "oldest first");
    expect([...found].sort()).toEqual(names(byTime).sort());
    const unordered = await entryTimes([byTime[1] ?? {}, byTime[1] ?? {}, ...byTime.toReversed()], "oldest first");
    expect(unordered.found).toEqual(names(byTime));
  });

  it("gives the oldest first, each once, in whatever order the platform has them", async () => {
    const newestFirst = [source("2026-03-03T03:00:00"), source("2026-03-03T02:00:00"), source("2026-03-03T01:00:00")];
    const { page } = logOf(...newestFirst, source("2026-03-03T01:00:00"));
    const times = newestFirst.map(({ resource }) => resource).reverse();
    expect(await read({ page, since: at("2026-03-03T00:00:00") })).toEqual(times);
  });

  it("never asks for more than the 35 days that there are", async () => {
    const { page, asked } = logOf();
    await read({ page, since: 0 });
    expect(asked).toEqual(["2026-01-27T12:00:00Z..2026-03-03T13:00:00Z+0"]);
  });

  it("ends with a platform that ignores the offset", async () => {
    const one = source("2026-03-03T01:00:00", "a");
    expect(await read({ page: async () => ({ sources: [one], total: 5 }), since: at("2026-03-03T00:00:00") })).toEqual([
      "a",
    ]);
  });
});

describe.each<Order>(["newest first", "oldest first"])(
  "a log that lists the %s and grows while it is read",
  (listOrder) => {
    const isReversed = listOrder === "newest first";
    const from = at("2026-03-03T00:00:00");
    const nameOf = (nth: number) => `entry ${nth}`;
    const entry = (nth: number): ActivitySource => ({
      time: new Date(from + nth * 1000).toISOString(),
      resource: nameOf(nth),
    });
    const MANY = 1000;
    const PAGE = 20;

    /** Every fifth call finds one entry more. Counts the calls that are made while no other is. */
    function growing() {
      const entries = Array.from({ length: MANY }, (_, nth) => entry(nth));
      let [open, calls, alone] = [0, 0, 0];
      const page = async (_: Days | Period, offset: number): Promise<ActivityPage> => {
        open += 1;
        await new Promise(setImmediate);
        if (open === 1) alone += 1;
        await new Promise(setImmediate);
        open -= 1;
        if (++calls % 5 === 0) entries.push(entry(entries.length));
        const all = isReversed ? entries.toReversed() : entries;
        return { sources: all.slice(offset, offset + PAGE), total: all.length };
      };
      return { page, alone: () => alone };
    }

    it.each<Order>(["newest first", "oldest first"])(
      "is read whole, pages side by side, and given %s",
      async (order) => {
        const { page, alone } = growing();
        const found: string[] = [];
        for await (const batch of readRange({ page, period: { from, to: from + 86_400_000 }, order })) {
          found.push(...batch.map(({ resource }) => resource));
        }
        const first = new Set(Array.from({ length: MANY }, (_, nth) => nameOf(nth)));
        const known = found.filter((each) => first.has(each));
        expect(known).toEqual(order === "oldest first" ? [...first] : [...first].reverse());
        expect(new Set(found).size).toBe(found.length);
        expect(alone()).toBeLessThan(10);
      },
    );
  },
);

describe("following the activity log", () => {
  /** Runs one action before each further read, then ends. */
  async function follow(log: ReturnType<typeof logOf>, steps: (() => void)[], now?: () => number): Promise<string[]> {
    const ended = new Error("interrupted");
    const found: string[] = [];
    const options = {
      page: log.page,
      now: now ?? (() => at("2026-03-03T12:00:00")),
      since: at("2026-03-03T00:00:00"),
      pause: async () => {
        const step = steps.shift();
        if (step === undefined) throw ended;
        log.asked.length = 0;
        step();
      },
    };
    try {
      for await (const batch of readActivity(options)) found.push(...batch.map(({ resource }) => resource));
    } catch (error) {
      if (error !== ended) throw error;
    }
    return found;
  }
  const three = () =>
    logOf(source("2026-03-03T01:00:00"), source("2026-03-03T02:00:00"), source("2026-03-03T03:00:00", "last"));

  it("gives what is new, and asks only behind what it knows", async () => {
    const log = three();
    const found = await follow(log, [() => {}, () => log.entries.push(source("2026-03-03T04:00:00", "new"))]);
    expect(found.slice(2)).toEqual(["last", "new"]);
    expect(log.asked).toEqual(["2026-03-03..+2", "2026-03-03..+4"]);
  });

  it("misses no entry that comes late, between others", async () => {
    const log = three();
    const found = await follow(log, [() => log.entries.splice(1, 0, source("2026-03-03T01:30:00", "late"))]);
    expect(found.slice(2)).toEqual(["last", "late"]);
  });

  it("misses nothing where the newest is first", async () => {
    const log = three();
    log.entries.reverse();
    const found = await follow(log, [() => log.entries.unshift(source("2026-03-03T04:00:00", "new"))]);
    expect(found.slice(2)).toEqual(["last", "new"]);
  });

  it("goes over midnight without a gap and without saying anything twice", async () => {
    const log = three();
    let now = at("2026-03-03T23:59:00");
    const step = (to: string, entry?: ActivitySource) => () => {
      now = at(to);
      if (entry) log.entries.push(entry);
    };
    const found = await follow(
      log,
      [
        step("2026-03-04T00:30:00", source("2026-03-04T00:20:00", "after midnight")),
        step("2026-03-04T01:30:00", source("2026-03-04T01:20:00", "later")),
        step("2026-03-04T01:31:00"),
      ],
      () => now,
    );
    expect(found.slice(2)).toEqual(["last", "after midnight", "later"]);
  });
});

it("a log whose oldest entries go while it is read loses none that stays", async () => {
  const from = at("2026-03-03T00:00:00");
  const entries = Array.from(
    { length: 1000 },
    (_, nth): ActivitySource => ({
      time: new Date(from + nth * 1000).toISOString(),
      resource: String(nth),
    }),
  );
  let calls = 0;
  const page = async (_: Days | Period, offset: number): Promise<ActivityPage> => {
    if (++calls % 5 === 0) entries.splice(0, 3);
    return { sources: entries.slice(offset, offset + 20), total: entries.length };
  };
  const found: string[] = [];
  const period = { from, to: from + 86_400_000 };
  for await (const batch of readRange({ page, period, order: "oldest first" })) {
    found.push(...batch.map(({ resource }) => resource));
  }
  const staying = entries.map(({ resource }) => resource);
  expect(staying.filter((each) => !found.includes(String(each)))).toEqual([]);
  expect(new Set(found).size).toBe(found.length);
  expect(calls).toBeLessThan(100);
});
