import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { boundedText } from "../../../src/kinds/fields/bounded.ts";
import {
  addTo,
  differenceOf,
  divide,
  emptySketch,
  readSketch,
  type Sketch,
  writtenSketch,
} from "../../../src/platform/activity/sketch.ts";

const idOf = (nth: number) => createHash("sha256").update(String(nth)).digest("hex").slice(0, 32);
const addedBetween = (before: Sketch, after: Sketch) => differenceOf(before, after)?.added;
function sketchOf(ids: readonly string[]): Sketch {
  const sketch = emptySketch();
  for (const id of ids) addTo(sketch, id);
  return sketch;
}

it("tells the few entries that came late, however many there were before", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 0, max: 4 }), fc.nat(), (many, few, seed) => {
      const before = Array.from({ length: many }, (_, nth) => idOf(seed + nth));
      const late = Array.from({ length: few }, (_, nth) => idOf(-1 - seed - nth));
      const stored = readSketch(writtenSketch(sketchOf(before)));
      const added = addedBetween(stored, sketchOf([...before, ...late]));
      // With very few entries, some share the same cells. The sketch reports that and does not guess.
      if (added) expect([...added].sort()).toEqual(late.map((id) => id.slice(0, 16)).sort());
      return added !== undefined || few > 1;
    }),
    { numRuns: 50 },
  );
});

it("can nearly always tell twenty entries, and says when there are too many", () => {
  const lateOf = (round: number, count: number) => Array.from({ length: count }, (_, nth) => idOf(1000 * round + nth));
  const countApart = (count: number) =>
    Array.from({ length: 200 }, (_, round) => addedBetween(emptySketch(), sketchOf(lateOf(round, count)))).filter(
      (found) => found?.size === count,
    ).length;
  expect(countApart(20)).toBeGreaterThan(180);
  expect(addedBetween(emptySketch(), sketchOf(lateOf(0, 500)))).toBeUndefined();
});

it("is no longer than a thousand letters, and nothing for no entries", () => {
  expect(writtenSketch(emptySketch())).toBe("");
  expect(writtenSketch(sketchOf(Array.from({ length: 60_000 }, (_, nth) => idOf(nth)))).length).toBeLessThan(1_100);
  expect([...readSketch("what somebody wrote")]).toEqual([...emptySketch()]);
});

it("divides entries into what was delivered and what was not when either are few", () => {
  const entries = (from: number, count: number) =>
    Array.from({ length: count }, (_, nth) => ({ id: idOf(from + nth) }));
  const cases = [
    { delivered: 900, late: 60 },
    { delivered: 60, late: 3_000 },
    { delivered: 0, late: 3_000 },
    { delivered: 900, late: 0 },
  ];
  for (const { delivered, late } of cases) {
    const [before, after] = [entries(0, delivered), entries(10_000, late)];
    const sketch = emptySketch("large");
    for (const { id } of before) addTo(sketch, id);
    const stored = readSketch(writtenSketch(sketch), "large");
    expect(divide(stored, [...after, ...before])).toEqual({ known: before, others: after, missing: 0 });
  }
  const sketch = emptySketch("large");
  for (const { id } of entries(0, 900)) addTo(sketch, id);
  expect(divide(sketch, entries(1, 902))).toMatchObject({ missing: 1, others: { length: 3 } });
  expect(divide(sketch, entries(0, 2_000))).toBeUndefined();
});

it("fits into a text of a status, also a large one", () => {
  const sketch = emptySketch("large");
  for (let nth = 0; nth < 5_000; nth++) addTo(sketch, idOf(nth));
  expect(boundedText(writtenSketch(sketch))).toBe(writtenSketch(sketch));
});
