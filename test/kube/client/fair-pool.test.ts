import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFairPool } from "../../../src/kube/client/fair-pool.ts";
import { createFairQueue } from "../../../src/kube/client/fair-queue.ts";
import { fakeClock } from "../../fake-clock.ts";

describe("a pool that owners share", () => {
  it("is never exceeded, and has something left for a newcomer, whoever takes and gives back how much", () => {
    const step = fc.tuple(fc.nat({ max: 4 }), fc.boolean());
    fc.assert(
      fc.property(fc.integer({ min: 64, max: 200 }), fc.array(step, { maxLength: 600 }), (most, steps) => {
        const pool = createFairPool(most);
        for (const [nth, gives] of steps) {
          const owner = `owner-${nth}`;
          if (!gives) pool.take(owner);
          else if (pool.heldBy(owner) > 0) pool.giveBack(owner);
          expect(pool.held).toBeLessThanOrEqual(most);
        }
        expect(pool.take("newcomer")).toBe(true);
      }),
    );
  });

  it("gives half to one alone, half of what is left to the next, and has all again when they give it back", () => {
    const pool = createFairPool(120);
    const greedy = (owner: string) => {
      while (pool.take(owner));
      return pool.heldBy(owner);
    };
    expect(greedy("a")).toBe(60);
    expect(greedy("b")).toBe(30);
    expect(greedy("c")).toBe(15);
    for (const owner of ["a", "b", "c"]) pool.giveBack(owner, pool.heldBy(owner));
    expect([pool.held, pool.heldBy("a")]).toEqual([0, 0]);
  });
});

describe("a queue that owners share", () => {
  it("takes turns between owners, however much each of them asks for", async () => {
    const queue = createFairQueue({ clock: fakeClock(), slots: 2, waiting: 100, mostWaitMs: 1000 });
    const order: string[] = [];
    const gates: (() => void)[] = [];
    const run = (owner: string) =>
      queue.run(owner, async () => {
        order.push(owner);
        await new Promise<void>((resolve) => gates.push(resolve));
      });
    const all = [..."aaaaaabbc"].map(run);
    for (let done = 0; done < all.length; done += 1) {
      await new Promise(setImmediate);
      gates.shift()?.();
    }
    await Promise.all(all);
    expect(order.slice(0, 6).sort().join("")).toBe("aaabbc");
    expect(order.join("").endsWith("aaa")).toBe(true);
  });

  it("lets nobody wait longer than allowed, nor more than there are places, and keeps no timer", async () => {
    const clock = fakeClock();
    const queue = createFairQueue({ clock, slots: 2, waiting: 10, mostWaitMs: 1000 });
    const gate = Promise.withResolvers<void>();
    const ends = Array.from({ length: 20 }, () => queue.run("a", () => gate.promise));
    expect(await Promise.all(ends.slice(11))).toEqual(Array(9).fill("busy"));
    await clock.advance(1000);
    expect(await Promise.all(ends.slice(1, 11))).toEqual(Array(10).fill("busy"));
    gate.resolve();
    await ends[0];
    expect(clock.pending).toBe(0);
    expect(await queue.run("a", async () => "done")).toBe("done");
  });

  it("takes the place for a newcomer from the longest line", async () => {
    const queue = createFairQueue({ clock: fakeClock(), slots: 2, waiting: 10, mostWaitMs: 1000 });
    const gate = Promise.withResolvers<string>();
    const loud = Array.from({ length: 11 }, () => queue.run("loud", () => gate.promise));
    // One slot is left for another owner.
    const quiet = Array.from({ length: 3 }, () => queue.run("quiet", () => gate.promise));
    expect(await Promise.all(loud.slice(9))).toEqual(["busy", "busy"]);
    gate.resolve("done");
    expect(await Promise.all([...loud.slice(0, 9), ...quiet])).toEqual(Array(12).fill("done"));
  });
});
