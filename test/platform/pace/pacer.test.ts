import { describe, expect, test } from "vitest";
import { createPacer, type Pacer } from "../../../src/platform/pace/pacer.ts";
import { type FakeClock, fakeClock } from "../../fake-clock.ts";

const noChance = () => 0;

describe("the pacer", () => {
  test("stops for Retry-After, halves the rate, and climbs back slowly", async () => {
    const clock = fakeClock();
    const pacer = createPacer({ clock, random: noChance, rate: 40, burst: 40 });
    const pass = await pacer.enter("normal");
    pass.refused(7_000);
    pass.leave();
    expect(pacer.rate).toBe(20);
    let passedAt: number | undefined;
    void pacer.enter("people").then((next) => {
      passedAt = clock.monotonic();
      next.leave();
    });
    await clock.advance(6_900);
    expect(passedAt).toBeUndefined();
    await clock.advance(200);
    expect(passedAt).toBeGreaterThanOrEqual(7_000);
    await clock.advance(15_000);
    expect(pacer.rate).toBeGreaterThan(25);
    expect(pacer.rate).toBeLessThan(35);
    await clock.advance(60_000);
    expect(pacer.rate).toBe(40);
  });

  test("does not let the rest of a burst out after a pause", async () => {
    const clock = fakeClock();
    const pacer = createPacer({ clock, random: noChance, rate: 10, burst: 10 });
    (await pacer.enter("normal")).refused(1_000);
    let passed = 0;
    for (let n = 0; n < 10; n++) void pacer.enter("normal").then(() => passed++);
    await clock.advance(1_100);
    expect(passed).toBe(0);
    await clock.advance(900);
    expect(passed).toBe(5);
  });

  test("backs off longer with every refusal when the platform names no time", async () => {
    const clock = fakeClock();
    const pacer = createPacer({ clock, random: noChance });
    const pauses: number[] = [];
    for (let n = 0; n < 4; n++) {
      const pass = await pacer.enter("normal");
      const refusedAt = clock.monotonic();
      pass.refused(undefined);
      pass.leave();
      const again = pacer.enter("normal");
      again.then((next) => {
        pauses.push(clock.monotonic() - refusedAt);
        next.refused(undefined);
        next.leave();
      });
      await clock.advance(200_000);
    }
    expect(pauses[0]).toBeGreaterThanOrEqual(1_000);
    expect(pauses[1]).toBeGreaterThan(pauses[0] ?? 0);
    expect(Math.max(...pauses)).toBeLessThan(35_000);
  });

  test("takes refusals of requests that were already under way for one piece of news", async () => {
    const clock = fakeClock();
    const pacer = createPacer({ clock, random: noChance, rate: 40 });
    const passes = await Promise.all(Array.from({ length: 8 }, () => pacer.enter("normal")));
    for (const pass of passes) {
      pass.refused(1_000);
      pass.leave();
    }
    expect(pacer.rate).toBe(20);
  });

  test("never learns a rate at which nothing moves", async () => {
    const clock = fakeClock();
    const pacer = createPacer({ clock, random: noChance });
    for (let n = 0; n < 20; n++) {
      const entering = pacer.enter("normal");
      await clock.advance(60_000);
      const pass = await entering;
      pass.refused(100);
      pass.leave();
    }
    expect(pacer.rate).toBeGreaterThanOrEqual(0.5);
  });

  function crowd(clock: FakeClock, pacer: Pacer, answerMs: () => number, isRefused: () => boolean = () => false) {
    let ended = false;
    let under = 0;
    const seen = { passed: 0, mostUnderWay: 0 };
    const ask = async (): Promise<void> => {
      const pass = await pacer.enter("normal");
      seen.passed += 1;
      seen.mostUnderWay = Math.max(seen.mostUnderWay, ++under);
      if (isRefused()) pass.refused(undefined);
      clock.after(answerMs(), () => {
        under -= 1;
        pass.leave();
        if (!ended) void ask();
      });
    };
    for (let n = 0; n < 100; n++) void ask();
    return Object.assign(seen, {
      end() {
        ended = true;
      },
    });
  }

  test("raises its rate while requests wait and nobody refuses, up to the most, and lowers it when none wait", async () => {
    const clock = fakeClock();
    const pacer = createPacer({ clock, most: () => 400, mostConcurrent: 64 });
    const seen = crowd(clock, pacer, () => 150);
    await clock.advance(1_000);
    expect(pacer.rate).toBeGreaterThan(80);
    expect(pacer.rate).toBeLessThan(200);
    await clock.advance(4_000);
    expect(pacer.rate).toBe(400);
    expect(seen.mostUnderWay).toBeGreaterThan(16);
    expect(seen.mostUnderWay).toBeLessThanOrEqual(64);
    seen.end();
    await clock.advance(30_000);
    expect(pacer.rate).toBeLessThan(250);
    await clock.advance(90_000);
    expect(pacer.rate).toBe(50);
  });

  test("does not raise its rate for a platform that gets slow, or does not answer at all", async () => {
    const clock = fakeClock();
    const pacer = createPacer({ clock, most: () => 400, mostConcurrent: 64 });
    let answerMs = 100;
    const seen = crowd(clock, pacer, () => answerMs);
    await clock.advance(1_000);
    answerMs = 1_000;
    await clock.advance(500);
    const then = pacer.rate;
    expect(then).toBeLessThan(250);
    await clock.advance(20_000);
    expect(pacer.rate).toBeLessThanOrEqual(then);
    answerMs = 3_600_000;
    await clock.advance(60_000);
    expect(pacer.rate).toBeLessThanOrEqual(then);
    seen.end();
  });

  test("keeps its rate while nobody has to wait", async () => {
    const clock = fakeClock();
    const pacer = createPacer({ clock, most: () => 400 });
    for (let n = 0; n < 100; n++) {
      (await pacer.enter("normal")).leave();
      await clock.advance(50);
    }
    expect(pacer.rate).toBe(50);
  });

  test("finds the rate that the platform bears, and is seldom refused after that", async () => {
    const clock = fakeClock();
    const pacer = createPacer({ clock, random: noChance, most: () => 400, mostConcurrent: 64 });
    // A platform that accepts 100 requests in any second.
    const taken: number[] = [];
    const refusals: number[] = [];
    const isRefused = () => {
      const now = clock.monotonic();
      while ((taken[0] ?? now) <= now - 1000) taken.shift();
      if (taken.length < 100) {
        taken.push(now);
        return false;
      }
      refusals.push(now);
      return true;
    };
    const seen = crowd(clock, pacer, () => 20, isRefused);
    await clock.advance(60_000);
    seen.end();
    const { passed } = seen;
    expect((passed - refusals.length) / 60).toBeGreaterThan(60);
    expect(new Set(refusals.filter((at) => at > 20_000).map((at) => Math.floor(at / 1000))).size).toBeLessThan(8);
  });

  test("obeys a limit that is set while it works", async () => {
    const clock = fakeClock();
    let limit = 400;
    const pacer = createPacer({ clock, most: () => limit, mostConcurrent: 64 });
    const seen = crowd(clock, pacer, () => 20);
    await clock.advance(4_000);
    limit = 10;
    await clock.advance(1_000);
    const before = seen.passed;
    await clock.advance(10_000);
    expect(seen.passed - before).toBeLessThanOrEqual(101);
    seen.end();
  });
});
