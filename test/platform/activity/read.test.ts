import { describe, expect, it } from "vitest";
import type { Entry } from "../../../src/platform/activity/entry.ts";
import type { ActivitySource, Days } from "../../../src/platform/activity/log.ts";
import { type ReadOptions, readActivity } from "../../../src/platform/activity/read.ts";

const at = (time: string) => Date.parse(`${time}Z`);
const source = (time: string, resource = time): ActivitySource => ({ time: `${time}Z`, resource });

/** A log that gives two entries at once, in the order it keeps them. */
function logOf(...entries: ActivitySource[]) {
  const asked: string[] = [];
  const page = async ({ start, end = "9" }: Days, offset: number) => {
    asked.push(`${start}..${end === "9" ? "" : end}+${offset}`);
    const inside = entries.filter(({ time }) => (time ?? "") >= start && (time ?? "").slice(0, 10) <= end);
    return inside.slice(offset, offset + 2);
  };
  return { entries, asked, page };
}

async function read(options: Omit<ReadOptions, "now"> & { now?: () => number }): Promise<string[]> {
  const found: Entry[] = [];
  for await (const batch of readActivity({ now: () => at("2026-03-03T12:00:00"), ...options })) found.push(...batch);
  return found.map(({ resource }) => resource);
}

describe("reading the activity log", () => {
  it("goes through the days and their pages, and cuts what was not asked for", async () => {
    const { page, asked } = logOf(
      source("2026-03-01T09:00:00", "too early"),
      source("2026-03-01T11:00:00", "a"),
      source("2026-03-02T11:00:00", "b"),
      source("2026-03-03T11:00:00", "c"),
      source("2026-03-03T11:59:00", "too late"),
    );
    const since = at("2026-03-01T10:00:00");
    expect(await read({ page, since, until: at("2026-03-03T11:30:00") })).toEqual(["a", "b", "c"]);
    expect(asked.filter((each) => each.endsWith("+0"))).toEqual([
      "2026-03-01..2026-03-01+0",
      "2026-03-02..2026-03-02+0",
      "2026-03-03..+0",
    ]);
  });

  it("reads the last day also when --until is earlier in the day than --since", async () => {
    const { page, asked } = logOf(source("2026-02-03T08:00:00", "a"));
    const period = { since: at("2026-02-01T10:00:00"), until: at("2026-02-03T09:00:00") };
    expect(await read({ page, ...period })).toEqual(["a"]);
    expect(asked.some((each) => each.includes("..+"))).toBe(false);
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
    expect(asked).toHaveLength(36);
    expect(asked[0]).toBe("2026-01-27..2026-01-27+0");
  });

  it("ends with a platform that ignores the offset", async () => {
    const one = source("2026-03-03T01:00:00", "a");
    expect(await read({ page: async () => [one], since: at("2026-03-03T00:00:00") })).toEqual(["a"]);
  });
});

describe("following the activity log", () => {
  /** Does one thing before each further look, and then ends. */
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
