import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pollGap } from "../../../src/platform/collections/poll-intervals.ts";
import {
  createDurationsByPath,
  createUsualDurations,
  nextRead,
  type UsualEnd,
} from "../../../src/platform/collections/usual-durations.ts";

const BUSY = 1_500;

/** Milliseconds after the begin of a change of this duration at which it is read, until a read shows it at rest. */
function readsOf(duration: number, usual: UsualEnd | undefined): number[] {
  const reads: number[] = [];
  for (let at = 0; at < duration; ) {
    at = nextRead(at, usual, BUSY);
    reads.push(at);
  }
  return reads;
}

describe("the usual duration of a change", () => {
  test("is unknown until a change of the same action was observed, and the more exact the more there were", () => {
    const durations = createUsualDurations();
    expect(durations.usual("create")).toBeUndefined();
    durations.learn("create", 4_000, 6_000);
    expect(durations.usual("create")).toEqual({ from: 2_500, to: 7_500 });
    expect(durations.usual("update")).toBeUndefined();
    for (let n = 0; n < 3; n++) durations.learn("create", 4_900, 5_100);
    expect(durations.usual("create")).toEqual({ from: 4_375, to: 5_625 });
  });

  test("follows a platform that became slower", () => {
    const durations = createUsualDurations();
    for (let n = 0; n < 8; n++) durations.learn("create", 1_000, 1_000);
    for (let n = 0; n < 16; n++) durations.learn("create", 9_000, 9_000);
    expect(durations.usual("create")?.from).toBeGreaterThan(8_000);
  });

  test.each([
    ["negative", -5, 1_000],
    ["negative", -1_000, -5],
    ["no number", Number.NaN, Number.NaN],
    ["no number", 1_000, Number.NaN],
    ["endless", 1_000, Number.POSITIVE_INFINITY],
    ["a year", 1_000, 365 * 86_400_000],
    ["over before it was in progress", 2_000, 1_000],
  ])("is not learned from one that is %s (%d to %d)", (_, busyMs, restMs) => {
    const durations = createUsualDurations();
    for (let n = 0; n < 8; n++) durations.learn("create", busyMs, restMs);
    expect(durations.usual("create")).toBeUndefined();
  });

  test("is one for the same kind of resource in all parents, and of a limited number of kinds", () => {
    const at = createDurationsByPath();
    const inDatacenter = (id: string) => at(`https://api.example/cloudapi/v6/datacenters/${id}/servers`);
    const first = inDatacenter("6cfaaf8b-8ea5-4b1f-9a0c-0c8e5f1d2a3b");
    expect(inDatacenter("0b1d2c3e-8ea5-4b1f-9a0c-0c8e5f1d2a3b")).toBe(first);
    expect(at("https://api.example/cloudapi/v6/datacenters")).not.toBe(first);
    for (let n = 0; n < 64; n++) at(`https://api.example/kind-${n}`);
    expect(inDatacenter("6cfaaf8b-8ea5-4b1f-9a0c-0c8e5f1d2a3b")).not.toBe(first);
  });
});

describe("a change with a known usual duration", () => {
  const usual = { from: 5_000, to: 12_000 };

  test("is read seldom before it can end, then often, and long after it at the poll interval", () => {
    const reads = readsOf(60_000, usual);
    expect(reads.filter((at) => at < usual.from)).toEqual([3_000]);
    const gaps = reads.map((at, index) => at - (reads[index - 1] ?? 0));
    expect(gaps.at(-1)).toBeCloseTo(pollGap(reads.at(-2) ?? 0, BUSY));
  });

  test("is read less late on average than at the poll interval", () => {
    const lateness = (known: UsualEnd | undefined) => {
      const all = Array.from({ length: 70 }, (_, n) => 5_000 + 100 * n);
      return all.reduce((sum, duration) => sum + (readsOf(duration, known).at(-1) ?? 0) - duration, 0) / all.length;
    };
    expect(lateness(usual)).toBeLessThan(0.6 * lateness(undefined));
  });

  const ends = fc
    .tuple(fc.nat(3_600_000), fc.nat(3_600_000))
    .map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }));

  test("is read at most one poll interval later than without, whatever was learned", () => {
    fc.assert(
      fc.property(fc.nat(7_200_000), ends, (sinceBegin, learned) => {
        const next = nextRead(sinceBegin, learned, BUSY);
        expect(next).toBeGreaterThanOrEqual(sinceBegin + 100);
        expect(next).toBeLessThanOrEqual(sinceBegin + pollGap(sinceBegin, BUSY) + BUSY);
      }),
    );
  });

  test("costs at most a few reads more than without, whatever was learned", () => {
    fc.assert(
      fc.property(fc.nat(600_000), ends, (duration, learned) => {
        expect(readsOf(duration, learned).length).toBeLessThanOrEqual(readsOf(duration, undefined).length + 10);
      }),
    );
  });
});
