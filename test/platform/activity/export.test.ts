import { describe, expect, it } from "vitest";
import { isRead } from "../../../src/platform/activity/entry.ts";
import { readLate, readWindow } from "../../../src/platform/activity/export.ts";
import {
  advanced,
  begunAt,
  dueIn,
  nextPeriod,
  type Progress,
  withHours,
} from "../../../src/platform/activity/progress.ts";
import { logOf } from "./log-of.ts";

const at = (time: string) => Date.parse(`2026-03-01T${time}Z`);
const minute = { from: at("10:00:00"), to: at("10:01:00") };
const many = (count: number, from: number, ms: number) =>
  Array.from({ length: count }, (_, nth) => ({ at: from + Math.floor((nth * ms) / count), what: `nth-${nth}` }));

describe("a window", () => {
  it("has the entries in the order of their time, whatever pages the platform gives", async () => {
    const entries = many(25, minute.from, 60_000);
    const whole = await readWindow(logOf(entries).log, minute, 5_000);
    const inPieces = await readWindow(logOf(entries.toReversed(), 3).log, minute, 5_000);
    expect(inPieces.lines).toEqual(whole.lines);
    expect(whole.lines.map(({ time }) => time)).toEqual(entries.map((entry) => entry.at));
  });

  it("is cut where there are too many entries, each time in the same place", async () => {
    const entries = many(60_000, minute.from, 60_000);
    const first = await readWindow(logOf(entries).log, minute, 5_000);
    expect(first.period).toEqual({ from: minute.from, to: minute.from + 3_750 });
    expect(first.lines.length).toBe(3_750);
    expect(await readWindow(logOf(entries).log, minute, 5_000)).toEqual(first);
  });

  it("has no reads where they are left out, and counts them all the same", async () => {
    const entries = [
      { at: minute.from, what: "vr.server.read" },
      { at: minute.from + 1, what: "vr.server.create" },
      { at: minute.from + 2, what: "logging.pipeline.read" },
    ];
    const { log } = logOf(entries);
    expect((await readWindow(log, minute, 5_000)).lines).toHaveLength(3);
    const { total, lines } = await readWindow({ ...log, leavesOut: isRead }, minute, 5_000);
    expect([total, lines.map(({ text }) => JSON.parse(text).action)]).toEqual([3, ["vr.server.create"]]);
    const progress = advanced(begunAt(minute.from), { period: minute, total, lines }, minute.to);
    entries.push({ at: minute.from + 3, what: "vr.server.read" });
    const { late } = await readLate({ ...log, leavesOut: isRead }, progress);
    expect(late).toBeUndefined();
  });

  it("of a single moment is read whole", async () => {
    const window = await readWindow(logOf(many(6_000, minute.from, 1)).log, minute, 5_000);
    expect(window.lines.length).toBe(6_000);
  });

  it.each([
    ["without a total", { total: undefined, sources: [] }, "hits.total is missing"],
    ["of another time", { total: 1, sources: [{ time: "2026-02-01T00:00:00Z" }] }, "outside of the requested period"],
  ])("is not taken from an answer %s", async (_, answer, words) => {
    const log = { ...logOf([]).log, page: async () => answer };
    await expect(readWindow(log, minute, 5_000)).rejects.toThrow(words);
  });

  it("of a log that never ends is given up", async () => {
    let nth = 0;
    const page = async () => ({
      total: 1,
      sources: Array.from({ length: 1000 }, () => ({ time: new Date(minute.from).toISOString(), action: `${nth++}` })),
    });
    await expect(readWindow({ ...logOf([]).log, page }, minute, 5_000)).rejects.toThrow("more than 200000 entries");
  });
});

/** Reads windows until everything before a time is read, like an export. */
async function readUntil(source: ReturnType<typeof logOf>, from: Progress, now: number) {
  const lines: string[] = [];
  let progress = from;
  while (dueIn(progress, now) === 0) {
    const window = await readWindow(source.log, nextPeriod(progress), 5_000);
    lines.push(...window.lines.map(({ text }) => text));
    progress = advanced(progress, window, now);
  }
  return { progress, lines };
}

describe("late entries", () => {
  const entries = () => many(200, at("10:00:00"), 300_000);

  it("are found and nothing else, also in a minute that had none, and by one call when there are none", async () => {
    const list = entries();
    const source = logOf(list);
    const { progress, lines } = await readUntil(source, begunAt(at("09:58:00")), at("10:06:00"));
    expect(lines.length).toBe(200);
    const before = source.calls();
    expect((await readLate(source.log, progress)).late).toBeUndefined();
    expect(source.calls() - before).toBe(1);
    list.push({ at: at("09:59:10"), what: "late" }, { at: at("10:03:10"), what: "later" });
    const first = await readLate(source.log, progress);
    if (!first.late) throw new Error("nothing was found");
    expect(first.late.lines.map(({ text }) => JSON.parse(text).action)).toEqual(["late"]);
    const between = advanced({ ...progress, slices: first.slices }, first.late, at("10:06:00"));
    const second = await readLate(source.log, between);
    if (!second.late) throw new Error("nothing was found");
    expect(second.late.lines.map(({ text }) => JSON.parse(text).action)).toEqual(["later"]);
    const after = advanced({ ...between, slices: second.slices }, second.late, at("10:06:00"));
    expect((await readLate(source.log, after)).late).toBeUndefined();
  });

  it("that are too many to be told apart come with all of their minute", async () => {
    const list = entries();
    const source = logOf(list);
    const { progress } = await readUntil(source, begunAt(at("10:00:00")), at("10:06:00"));
    list.push(...many(300, at("10:02:00"), 60_000).map((entry) => ({ ...entry, what: `late-${entry.what}` })));
    const { late, slices } = await readLate(source.log, progress);
    if (!late) throw new Error("nothing was found");
    expect(late.lines.length).toBe(340);
    const after = advanced({ ...progress, slices }, late, at("10:06:00"));
    expect((await readLate(source.log, after)).late).toBeUndefined();
  });

  it("come alone to a minute that had few, however many they are", async () => {
    const list = many(5, at("10:02:00"), 60_000);
    const source = logOf(list);
    const { progress } = await readUntil(source, begunAt(at("10:00:00")), at("10:06:00"));
    list.push(...many(300, at("10:02:00"), 60_000).map((entry) => ({ ...entry, what: `late-${entry.what}` })));
    expect((await readLate(source.log, progress)).late?.lines.length).toBe(300);
  });

  it("are not delivered again when the log hides and shows them", async () => {
    const list = entries();
    const source = logOf(list);
    const { progress } = await readUntil(source, begunAt(at("10:00:00")), at("10:06:00"));
    const hidden = list.splice(70, 3);
    const lagging = await readLate(source.log, progress);
    expect(lagging.late).toBeUndefined();
    list.push(...hidden);
    expect((await readLate(source.log, { ...progress, slices: lagging.slices })).late).toBeUndefined();
  });

  it("are looked for during ten minutes, and in no more than that", async () => {
    const { progress } = await readUntil(logOf([]), begunAt(at("09:00:00")), at("10:00:30"));
    expect(progress.slices.map((slice) => slice.from)).toEqual(
      Array.from({ length: 10 }, (_, nth) => at(`09:5${nth}:00`)),
    );
  });
});

describe("progress", () => {
  it("reads by the minute, and by the hour what is long over", () => {
    const fresh = begunAt(at("04:30:30"));
    expect(nextPeriod(fresh)).toEqual({ from: at("04:30:00"), to: at("04:31:00") });
    const behind = withHours(fresh, at("10:20:00"));
    expect(behind.hours).toEqual({ from: at("05:00:00"), to: at("10:00:00") });
    expect(nextPeriod({ ...behind, time: at("05:00:00") })).toEqual({ from: at("05:00:00"), to: at("06:00:00") });
    expect(nextPeriod({ ...behind, time: at("10:00:00") })).toEqual({ from: at("10:00:00"), to: at("10:01:00") });
  });

  it("keeps the hours that it reads as hours", () => {
    const behind = withHours(begunAt(at("04:30:00")), at("10:20:00"));
    expect(withHours(behind, at("23:00:00"))).toEqual(behind);
  });

  it("waits until a minute is over and settled", () => {
    expect(dueIn(begunAt(at("10:00:00")), at("10:00:30"))).toBe(40_000);
    expect(dueIn(begunAt(at("10:00:00")), at("10:01:10"))).toBe(0);
  });
});
