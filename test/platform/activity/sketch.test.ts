import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  addedBetween,
  addTo,
  emptySketch,
  readSketch,
  type Sketch,
  writtenSketch,
} from "../../../src/platform/activity/sketch.ts";

const idOf = (nth: number) => createHash("sha256").update(String(nth)).digest("hex").slice(0, 32);
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
      // Of very few entries some fall into the same cells now and then: that is said, and never guessed.
      if (added) expect([...added].sort()).toEqual(late.map((id) => id.slice(0, 16)).sort());
      return added !== undefined || few > 1;
    }),
    { numRuns: 50 },
  );
});

it("can nearly always tell twenty entries, and says when there are too many", () => {
  const lateOf = (round: number, count: number) => Array.from({ length: count }, (_, nth) => idOf(1000 * round + nth));
  const told = (count: number) =>
    Array.from({ length: 200 }, (_, round) => addedBetween(emptySketch(), sketchOf(lateOf(round, count)))).filter(
      (found) => found?.size === count,
    ).length;
  expect(told(20)).toBeGreaterThan(180);
  expect(addedBetween(emptySketch(), sketchOf(lateOf(0, 500)))).toBeUndefined();
});

it("is no longer than a thousand letters, and nothing for no entries", () => {
  expect(writtenSketch(emptySketch())).toBe("");
  expect(writtenSketch(sketchOf(Array.from({ length: 60_000 }, (_, nth) => idOf(nth)))).length).toBeLessThan(1_100);
  expect([...readSketch("what somebody wrote")]).toEqual([...emptySketch()]);
});
