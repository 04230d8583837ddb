import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPacer, type Pacer, type Pass, type Priority } from "../../../src/platform/pace/pacer.ts";
import { type FakeClock, fakeClock } from "../../fake-clock.ts";

const noChance = () => 0;

describe("the pacer", () => {
  test("lets a burst through at once and then keeps the rate", async () => {
    const clock = fakeClock();
    const pacer = createPacer({ clock, rate: 10, burst: 5, concurrent: 100 });
    let passed = 0;
    for (let n = 0; n < 30; n++) void pacer.enter("normal").then(() => passed++);
    await clock.advance(0);
    expect(passed).toBe(5);
    await clock.advance(1_000);
    expect(passed).toBe(15);
    await clock.advance(500);
    expect(passed).toBe(20);
  });

  test("lets no more requests be under way than allowed, and background reads fewer", async () => {
    const clock = fakeClock();
    const pacer = createPacer({ clock, concurrent: 4 });
    const passes: Pass[] = [];
    for (let n = 0; n < 10; n++) void pacer.enter("background").then((pass) => passes.push(pass));
    await clock.advance(1_000);
    expect(passes).toHaveLength(3);
    let person: Pass | undefined;
    void pacer.enter("people").then((pass) => {
      person = pass;
    });
    await clock.advance(0);
    expect(person).toBeDefined();
    passes[0]?.leave();
    passes[0]?.leave();
    await clock.advance(0);
    expect(passes).toHaveLength(4);
  });

  test("serves people first, then normal work, then background reads, each in the order of arrival", async () => {
    const clock = fakeClock();
    const pacer = createPacer({ clock, rate: 1, burst: 1, concurrent: 100 });
    const served: string[] = [];
    const arrivals: [Priority, string][] = [
      ["normal", "first"],
      ["background", "list"],
      ["normal", "second"],
      ["people", "edit"],
      ["normal", "third"],
    ];
    for (const [priority, name] of arrivals) void pacer.enter(priority).then(() => served.push(name));
    await clock.advance(5_000);
    expect(served).toEqual(["first", "edit", "second", "third", "list"]);
  });

  test("never starves a background read behind a stream of normal work", async () => {
    const clock = fakeClock();
    const pacer = createPacer({ clock, rate: 1, burst: 1, concurrent: 100 });
    let listed = false;
    void pacer.enter("background").then(() => {
      listed = true;
    });
    for (let n = 0; n < 50; n++) void pacer.enter("normal");
    await clock.advance(10_000);
    expect(listed).toBe(true);
  });

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

  /** Callers that always have another request, each answered after this time. `isRefused` decides about each. */
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

  test("grows while requests wait and nobody refuses, up to the most, and sinks back when none wait", async () => {
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

  test("does not press a platform that gets slow, or does not answer at all", async () => {
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

  test("stays as it is while nobody has to wait", async () => {
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

  test("an aborted wait ends at once and takes nobody's turn", async () => {
    const clock = fakeClock();
    const pacer = createPacer({ clock, rate: 1, burst: 1, concurrent: 100 });
    await pacer.enter("normal");
    const controller = new AbortController();
    const impatient = pacer.enter("normal", controller.signal);
    let next = false;
    void pacer.enter("normal").then(() => {
      next = true;
    });
    controller.abort(new Error("enough"));
    await expect(impatient).rejects.toThrow("enough");
    await expect(pacer.enter("normal", controller.signal)).rejects.toThrow("enough");
    await clock.advance(1_000);
    expect(next).toBe(true);
    expect(clock.pending).toBe(0);
  });

  test("turns away at once who waits and cannot wait for as long as the platform asks, and nobody else", async () => {
    const clock = fakeClock();
    const pacer = createPacer({ clock, random: noChance, rate: 1, burst: 1 });
    const pass = await pacer.enter("normal");
    const soon = expect(pacer.enter("normal", undefined, 30_000)).rejects.toMatchObject({ afterMs: 60_000 });
    const later = pacer.enter("normal", undefined, 90_000);
    pass.refused(60_000);
    pass.leave();
    await soon;
    await clock.advance(62_000);
    (await later).leave();
    expect(clock.pending).toBe(0);
  });

  test("turns away at once whose turn the rate puts too far off, and tells when it would come", async () => {
    const clock = fakeClock();
    const pacer = createPacer({ clock, rate: 2, burst: 2, concurrent: 100 });
    const entering = Array.from({ length: 8 }, () => pacer.enter("normal", undefined, 2_100));
    const outcomes = Promise.allSettled(entering);
    await clock.advance(0);
    await expect(entering[6]).rejects.toMatchObject({ afterMs: 2_500 });
    await expect(pacer.enter("background", undefined, 2_400)).rejects.toMatchObject({ afterMs: 2_500 });
    await clock.advance(2_000);
    expect((await outcomes).filter(({ status }) => status === "fulfilled")).toHaveLength(6);
    expect(clock.pending).toBe(0);
  });

  test("whatever happens, no span of time sees more passes than bucket and rate allow", async () => {
    const step = fc.record({
      gap: fc.integer({ min: 0, max: 3_000 }),
      count: fc.integer({ min: 1, max: 12 }),
      refuse: fc.option(fc.integer({ min: 0, max: 2_000 }), { nil: undefined }),
      priority: fc.constantFrom<Priority>("people", "normal", "background"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const clock = fakeClock();
        const [rate, burst] = [5, 7];
        const pacer = createPacer({ clock, rate, burst });
        const passed: number[] = [];
        for (const { gap, count, refuse, priority } of steps) {
          for (let n = 0; n < count; n++) {
            void pacer.enter(priority).then((pass) => {
              passed.push(clock.monotonic());
              if (refuse !== undefined && n === 0) pass.refused(refuse);
              pass.leave();
            });
          }
          await clock.advance(gap);
        }
        for (const [first, from] of passed.entries()) {
          for (const [offset, to] of passed.slice(first).entries()) {
            expect(offset + 1).toBeLessThanOrEqual(burst + ((to - from) / 1000) * rate + 1e-6);
          }
        }
      }),
      { numRuns: 40 },
    );
  });
});
