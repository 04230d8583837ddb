import { describe, expect, it } from "vitest";
import { createFilter } from "../../../src/diagnostics/flow-logs/filter.ts";
import { canMatter, isFlowLog } from "../../../src/diagnostics/flow-logs/selection.ts";
import { localTime, momentOf } from "../../../src/diagnostics/time.ts";
import { flow } from "./lines.ts";

const now = Date.parse("2026-03-01T12:00:00Z");
const at = (time: string) => Date.parse(`2026-03-01T${time}Z`);

describe("--since", () => {
  it.each([
    ["90s", "11:58:30"],
    ["15m", "11:45:00"],
    ["1h30m", "10:30:00"],
    ["2026-03-01T10:20Z", "10:20:00"],
    ["2026-03-01T10:20:30+01:00", "09:20:30"],
  ])("may be %s", (text, time) => expect(momentOf(text, now)).toBe(at(time)));

  it("means the time zone of this machine when it names none", () => {
    expect(momentOf("2026-03-01", now)).toBe(new Date(2026, 2, 1).getTime());
    expect(momentOf("2026-03-01T10:20", now)).toBe(new Date(2026, 2, 1, 10, 20).getTime());
  });

  it.each(["", "h", "1", "1y", "-1h", "yesterday", "2026-13-01", "2026-03-01 10:00"])("is not %j", (text) => {
    expect(momentOf(text, now)).toBeUndefined();
  });
});

describe("a time in the table", () => {
  it("names the same moment with the zone of this machine", () => {
    const seconds = now / 1000;
    expect(localTime(seconds)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/);
    expect(Date.parse(localTime(seconds)) / 1000).toBe(seconds);
  });
});

describe("an object", () => {
  const named = (time: string) => ({ key: `web-4f0e-20260301T${time}Z.log.gz`, lastModified: now });

  it.each([
    ["094000", false],
    ["095500", true],
    ["100000", true],
    ["102000", true],
    ["103500", false],
  ])("whose interval begins at %s can hold records of 10:00 to 10:30: %s", (time, expected) => {
    expect(canMatter(named(time), { since: at("10:00:00"), until: at("10:30:00") })).toBe(expected);
  });

  it("with another key is judged by when it was written", () => {
    const written = (time: string) => ({ key: "copy.log.gz", lastModified: at(time) });
    expect(canMatter(written("09:50:00"), { since: at("10:00:00") })).toBe(false);
    expect(canMatter(written("10:05:00"), { since: at("10:00:00") })).toBe(true);
    expect(canMatter(written("11:00:00"), { until: at("10:00:00") })).toBe(true);
    expect(canMatter({ key: "x-20261301T000000Z.log.gz", lastModified: Number.NaN }, { since: now })).toBe(true);
  });

  it("is a flow log by its suffix", () => {
    expect(isFlowLog(named("100000"))).toBe(true);
    expect(isFlowLog({ key: "readme.txt" })).toBe(false);
  });
});

describe("a filter", () => {
  const none = { ports: new Set<number>() };
  const span = flow({ start: 1000, end: 1060 });

  it.each([
    [{ since: 1060_000 }, true],
    [{ since: 1061_000 }, false],
    [{ until: 1000_000 }, true],
    [{ until: 999_000 }, false],
    [{ since: 1020_000, until: 1030_000 }, true],
  ])("with %j concerns a record of 1000 to 1060: %s", (period, expected) => {
    expect(createFilter({ ...none, ...period }).concerns(span)).toBe(expected);
  });

  it("asks for the interface", () => {
    const { concerns } = createFilter({ ...none, interfaces: new Set(["a"]) });
    expect([concerns(flow({ interface: "a" })), concerns(flow({ interface: "b" }))]).toEqual([true, false]);
  });

  it("asks for the action, and for the port on either side", () => {
    const { matches } = createFilter({ action: "REJECT", ports: new Set([22, 80]) });
    const rejected = { action: "REJECT", srcport: 1, dstport: 2 } as const;
    expect(matches(flow({ ...rejected, srcport: 22 }))).toBe(true);
    expect(matches(flow({ ...rejected, dstport: 80 }))).toBe(true);
    expect(matches(flow(rejected))).toBe(false);
    expect(matches(flow({ ...rejected, dstport: 80, action: "ACCEPT" }))).toBe(false);
  });
});
