import { beforeEach, describe, expect, test } from "vitest";
import { createQueue, type Queue } from "../../../src/kube/queue/queue.ts";
import { type FakeClock, fakeClock } from "../../fake-clock.ts";

let clock: FakeClock;
let queue: Queue;
const { signal } = new AbortController();

beforeEach(() => {
  clock = fakeClock();
  queue = createQueue({ clock, random: () => 1 });
});

/** All keys that are ready, in order. Each key is done immediately. */
async function drain(): Promise<string[]> {
  const keys: string[] = [];
  while (queue.depth > 0) {
    const key = (await queue.take(signal)) ?? "";
    queue.done(key);
    keys.push(key);
  }
  return keys;
}

describe("ready keys", () => {
  test("come first in, first out, and each only once", async () => {
    for (const key of ["a", "b", "a", "c", "b"]) queue.add(key);
    expect(await drain()).toEqual(["a", "b", "c"]);
  });

  test("of people come before the rest, and asking again more urgently moves a key up", async () => {
    queue.add("resync", "background");
    queue.add("plain");
    queue.add("urgent", "people");
    queue.add("moved", "background");
    queue.add("moved", "people");
    queue.add("plain", "background");
    expect(await drain()).toEqual(["urgent", "moved", "plain", "resync"]);
  });

  test("of what is begun come before what is new", async () => {
    queue.add("resync", "background");
    for (const key of ["a", "b"]) queue.add(key, "new");
    queue.add("parent");
    queue.add("b");
    expect(await drain()).toEqual(["parent", "b", "a", "resync"]);
  });

  test("go to those who wait for one, in the order they came", async () => {
    const takers = [queue.take(signal), queue.take(signal)];
    queue.add("a");
    queue.add("b");
    expect(await Promise.all(takers)).toEqual(["a", "b"]);
  });

  test("are not given to one who went away", async () => {
    const leaving = new AbortController();
    const left = queue.take(leaving.signal);
    leaving.abort();
    expect(await left).toBeUndefined();
    expect(await queue.take(leaving.signal)).toBeUndefined();
    queue.add("a");
    expect(await queue.take(signal)).toBe("a");
  });
});

describe("a key in work", () => {
  test("is never handed out a second time, but once more afterwards when it was added meanwhile", async () => {
    queue.add("a");
    await queue.take(signal);
    queue.add("a", "background");
    queue.add("a", "people");
    queue.add("b");
    expect(queue.depth).toBe(1);
    queue.done("a");
    expect(await drain()).toEqual(["a", "b"]);
  });

  test("is measured while it lasts", async () => {
    queue.add("a");
    await queue.take(signal);
    await clock.advance(3000);
    expect(queue.inWork()).toEqual([3]);
    queue.done("a");
    queue.done("a");
    expect(queue.inWork()).toEqual([]);
  });
});

describe("a delayed key", () => {
  test("becomes ready at its time, and an earlier time for the same key wins", async () => {
    queue.addAfter("a", 5000, "people");
    queue.addAfter("a", 1000, "background");
    queue.addAfter("a", 9000);
    queue.addAfter("b", 500);
    queue.addAfter("c", 0);
    expect([await drain(), queue.delayed]).toEqual([["c"], 2]);
    await clock.advance(999);
    expect(await drain()).toEqual(["b"]);
    queue.add("d");
    await clock.advance(1);
    expect(await drain()).toEqual(["a", "d"]);
    await clock.advance(10_000);
    expect([await drain(), queue.delayed, clock.pending]).toEqual([[], 0, 0]);
  });

  test("that is to return need not when it is taken before", async () => {
    queue.returnAfter("a", 1000);
    queue.returnAfter("b", 1000, "background");
    queue.addAfter("a", 2000);
    queue.add("a");
    expect([await drain(), queue.delayed]).toEqual([["a"], 2]);
    await clock.advance(1000);
    expect(await drain()).toEqual(["b"]);
    await clock.advance(1000);
    expect([await drain(), queue.delayed]).toEqual([["a"], 0]);
  });

  test("that returns again and again leaves nothing behind", async () => {
    for (let n = 0; n < 10_000; n++) {
      queue.returnAfter("a", 600_000 + n);
      queue.add("a");
      await drain();
    }
    expect([queue.delayed, clock.pending]).toEqual([0, 1]);
    await clock.advance(1_000_000);
    expect([await drain(), clock.pending]).toEqual([[], 0]);
  });

  test("waits twice as long with each failure, up to a limit, until it did well", () => {
    const waits = Array.from({ length: 11 }, () => queue.addRateLimited("a") / 1000);
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    expect([queue.retries("a"), queue.retries("b")]).toEqual([11, 0]);
    queue.forget("a");
    expect([queue.addRateLimited("a"), queue.retries("a")]).toEqual([1000, 1]);
    for (let count = 0; count < 2000; count++) queue.addRateLimited("b");
    expect(queue.addRateLimited("b")).toBe(300_000);
    queue.shutdown();
  });

  test("waits at least half as long as without chance", () => {
    const low = createQueue({ clock, random: () => 0, baseMs: 100, maxMs: 1000 });
    expect([low.addRateLimited("a"), low.addRateLimited("a")]).toEqual([50, 100]);
    low.shutdown();
  });

  test("may wait for longer than a timer lasts", async () => {
    queue.addAfter("a", 2 ** 32);
    await clock.advance(2 ** 32 - 1);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(queue.depth).toBe(1);
  });
});

test("shutdown takes nothing new, hands out what is ready, and then tells every taker", async () => {
  queue.add("a");
  queue.addAfter("later", 10);
  queue.shutdown();
  queue.add("b");
  queue.addAfter("c", 1);
  expect(await queue.take(signal)).toBe("a");
  expect(await queue.take(signal)).toBeUndefined();
  expect([queue.delayed, clock.pending]).toEqual([0, 0]);
  const idle = createQueue({ clock });
  const takers = [idle.take(signal), idle.take(signal)];
  idle.shutdown();
  expect(await Promise.all(takers)).toEqual([undefined, undefined]);
});

test("tells an observer what the workqueue metrics need", async () => {
  const seen: unknown[] = [];
  queue = createQueue({
    clock,
    observe: {
      depth: (ready) => seen.push(["depth", ready]),
      added: () => seen.push("added"),
      waited: (seconds) => seen.push(["waited", seconds]),
      worked: (seconds) => seen.push(["worked", seconds]),
      retried: () => seen.push("retried"),
    },
  });
  queue.addAfter("a", 1000);
  await clock.advance(1000);
  await clock.advance(2000);
  await queue.take(signal);
  await clock.advance(500);
  queue.done("a");
  expect(seen).toEqual(["retried", "added", ["depth", 1], ["waited", 2], ["depth", 0], ["worked", 0.5]]);
});
