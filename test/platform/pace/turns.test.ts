import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPacer, type Pass, type Priority } from "../../../src/platform/pace/pacer.ts";
import { fakeClock } from "../../fake-clock.ts";

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

  test("no span of time has more passes than bucket and rate allow", async () => {
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
