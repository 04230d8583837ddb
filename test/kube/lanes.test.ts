import { beforeEach, describe, expect, test } from "vitest";
import { createQueue, type Queue } from "../../src/kube/queue.ts";
import { type FakeClock, fakeClock } from "../fake-clock.ts";

let clock: FakeClock;
let queue: Queue;
const { signal } = new AbortController();

beforeEach(() => {
  clock = fakeClock();
  queue = createQueue({ clock, workers: 8, laneOf: (key) => key.slice(0, 1) });
});

const addMany = (lane: string, count: number) => {
  for (let index = 0; index < count; index++) queue.add(`${lane}${index}`);
};

/** What as many workers as there are get now, and keep. */
async function takeAll(workers = 8): Promise<string[]> {
  const taken: string[] = [];
  for (let worker = 0; worker < workers; worker++) void queue.take(signal).then((key) => key && taken.push(key));
  await clock.advance(0);
  return taken;
}

const ofLane = (keys: string[], lane: string) => keys.filter((key) => key.startsWith(lane)).length;

describe("lanes", () => {
  test("take turns, so that a few keys do not wait behind many of another lane", async () => {
    addMany("a", 100);
    addMany("b", 2);
    expect(await takeAll(4)).toEqual(["a0", "b0", "a1", "b1"]);
  });

  test("share the workers while others wait, and one alone leaves a quarter of them free", async () => {
    addMany("a", 100);
    expect(await takeAll()).toHaveLength(6);
    addMany("b", 100);
    await clock.advance(0);
    expect(queue.inWork()).toHaveLength(8);
  });

  test("that hold their share get no more until they are done with something", async () => {
    addMany("a", 100);
    addMany("b", 100);
    const taken = await takeAll();
    expect([ofLane(taken, "a"), ofLane(taken, "b")]).toEqual([4, 4]);
    addMany("c", 1);
    const more = takeAll(1);
    queue.done("a0");
    expect(await more).toEqual(["c0"]);
  });

  test("give a worker to the lane that could not go on before, once the others have nothing left", async () => {
    addMany("a", 100);
    addMany("b", 1);
    const taken = await takeAll();
    expect([ofLane(taken, "a"), ofLane(taken, "b")]).toEqual([6, 1]);
    queue.done("a0");
    await clock.advance(0);
    expect(queue.inWork()).toHaveLength(7);
  });

  test("do not stand above priorities", async () => {
    addMany("a", 3);
    queue.add("b0", "people");
    queue.add("a2", "people");
    expect(await takeAll(3)).toEqual(["b0", "a2", "a0"]);
  });

  test("of a queue that is shut down are emptied without regard to shares", async () => {
    addMany("a", 8);
    queue.shutdown();
    expect(await takeAll()).toHaveLength(8);
  });

  test("with a hundred thousand keys hand each out once, in order", async () => {
    const single = createQueue({ clock });
    for (let index = 0; index < 100_000; index++) single.add(`a${index}`);
    let next = 0;
    for (; single.depth > 0; next++) {
      const key = (await single.take(signal)) ?? "";
      if (key !== `a${next}`) break;
      single.done(key);
    }
    expect(next).toBe(100_000);
  });
});
