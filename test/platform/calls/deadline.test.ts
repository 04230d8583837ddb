import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { startDeadline } from "../../../src/platform/calls/deadline.ts";
import { fakeClock } from "../../fake-clock.ts";

describe("a deadline", () => {
  test("runs from the start", async () => {
    const clock = fakeClock();
    using deadline = startDeadline(clock, 1_000, []);
    await clock.advance(999);
    expect(deadline.beginSend()).toBe(true);
    await clock.advance(1);
    expect(deadline.signal.aborted).toBe(true);
  });

  test("of what may wait for its turn is as short as any other once that has left", async () => {
    const clock = fakeClock();
    using deadline = startDeadline(clock, 1_000, [], { patienceMs: 60_000 });
    await clock.advance(59_000);
    expect(deadline.beginSend()).toBe(true);
    await clock.advance(999);
    expect(deadline.signal.aborted).toBe(false);
    await clock.advance(1_000);
    expect(deadline.signal.aborted).toBe(true);
  });

  test("holds a write back in a process that stood still past it, although no timer has fired yet", () => {
    let time = 0;
    const stopped = { now: () => time, monotonic: () => time, after: () => () => {} };
    using deadline = startDeadline(stopped, 1_000, []);
    time = 60_000;
    expect(deadline.beginSend()).toBe(false);
    expect(deadline.signal.aborted).toBe(true);
  });

  test("ends with the signals it was given, and leaves no trace on them", () => {
    const clock = fakeClock();
    const [one, two] = [new AbortController(), new AbortController()];
    {
      using deadline = startDeadline(clock, 1_000, [one.signal, two.signal]);
      two.abort(new Error("enough"));
      expect(deadline.signal.reason).toEqual(new Error("enough"));
    }
    expect(getEventListeners(one.signal, "abort")).toEqual([]);
    expect(clock.pending).toBe(0);
    using late = startDeadline(clock, 1_000, [two.signal]);
    expect(late.beginSend()).toBe(false);
  });
});
