import { expect, test } from "vitest";
import { inSlices, SLICE_MS, yieldIfDue } from "../../src/runtime/time-slices.ts";
import { fakeClock } from "../fake-clock.ts";
import { turnsOf } from "../turns.ts";

test("work within a slice waits for nothing", () => {
  const clock = fakeClock();
  clock.spend(SLICE_MS - 1);
  expect(yieldIfDue(clock)).toBeUndefined();
});

test("a long row of work lets the event loop turn after every slice", async () => {
  const clock = fakeClock();
  using turns = turnsOf();
  await inSlices(clock, Array(1000).keys(), () => {
    clock.spend(1);
    turns.count();
  });
  expect(turns.most()).toBeLessThanOrEqual(SLICE_MS + 1);
  expect(turns.total()).toBe(1000);
});

test("many rows together hold the event loop no longer than one, and each gets on", async () => {
  const clock = fakeClock();
  using turns = turnsOf();
  const ends: number[] = [];
  const row = async (name: number) => {
    await inSlices(clock, Array(100).keys(), () => {
      clock.spend(1);
      turns.count();
    });
    ends.push(name);
  };
  await Promise.all(Array.from({ length: 20 }, (_, name) => row(name)));
  expect(turns.most()).toBeLessThanOrEqual(SLICE_MS + 20);
  expect(ends).toEqual([...ends].sort((a, b) => a - b));
});
