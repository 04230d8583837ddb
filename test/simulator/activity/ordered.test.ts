import { expect, it } from "vitest";
import { byTime, createOrdered } from "../../../src/simulator/activity/ordered.ts";
import type { Entry } from "../../../src/simulator/records/activity.ts";

const entry = (n: number, at: number): Entry => ({
  n,
  at,
  type: "Read",
  status: "DONE",
  message: "",
  requestId: String(n),
  username: "",
  from: "",
  host: "",
  method: "GET",
  path: "",
  resources: [],
  error: null,
});

it("a page of a long log costs a few comparisons, also while the log changes between pages", () => {
  let comparisons = 0;
  const log = createOrdered((a, b) => {
    comparisons++;
    return byTime(a, b);
  });
  const entries = Array.from({ length: 100_000 }, (_, n) => entry(n, n));
  for (const each of entries) log.add(each);
  expect(comparisons).toBeLessThan(2 * entries.length);
  comparisons = 0;
  for (const [n, each] of entries.slice(0, 100).entries()) {
    log.remove(each);
    log.add(entry(100_000 + n, 100_000 + n - 5));
    expect(log.between(0, Number.POSITIVE_INFINITY)).toHaveLength(100_000);
  }
  // Two bounds, one removal and one addition, each a search in 17 steps.
  expect(comparisons / 100).toBeLessThan(5 * 17);
});

it("entries are in the order of their times, and those of one time as they came", () => {
  const log = createOrdered();
  const [first, second, late] = [entry(0, 5), entry(1, 5), entry(2, 3)];
  // A change and a read may have the same number.
  const twin = entry(1, 5);
  for (const each of [first, second, late, twin]) log.add(each);
  expect(log.between(0, 10).map(({ n }) => n)).toEqual([2, 0, 1, 1]);
  expect(log.between(0, 10)[3]).toBe(twin);
  log.remove(second);
  expect(log.between(0, 10)).toEqual([late, first, twin]);
  expect(log.between(5, 6)).toEqual([first, twin]);
  expect(log.between(0, 5)).toEqual([late]);
});
