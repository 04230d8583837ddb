import { afterEach, describe, expect, test } from "vitest";
import { type Collection, openCollection } from "../../../src/platform/collections/collection.ts";
import { createUsualDurations } from "../../../src/platform/collections/usual-durations.ts";
import { fakeClock } from "../../fake-clock.ts";
import { item, items, scriptedSource } from "./scripted-source.ts";

const opened: Collection[] = [];
afterEach(() => {
  for (const collection of opened.splice(0)) collection.close();
});

/** A collection of a platform whose changes take as long as the test says. */
async function open(size = 3) {
  const clock = fakeClock();
  const durations = createUsualDurations();
  const source = Object.assign(scriptedSource(items(size)), { durations });
  const collection = openCollection(source, { clock, random: () => 0.5 });
  opened.push(collection);
  await clock.advance(60_000);
  const notified = new Map<string, number>();
  collection.subscribe((ids) => {
    if (ids !== "all") for (const id of ids) notified.set(id, clock.monotonic());
  });
  const reads = () => source.calls.list + source.calls.get;

  /** Changes members, and returns how late their owners knew of the end, and the reads until then. */
  async function change(ids: readonly string[], takesMs: number, more: object = {}) {
    const before = reads();
    for (const id of ids) {
      source.put(item(id, "BUSY"));
      collection.track(id, { since: clock.now(), ...more });
    }
    await clock.advance(takesMs);
    const endedAt = clock.monotonic();
    for (const id of ids) {
      source.put(item(id, "AVAILABLE", { changedAt: endedAt }));
      notified.delete(id);
    }
    while (ids.some((id) => !notified.has(id))) await clock.advance(10);
    const known = Math.max(...ids.map((id) => notified.get(id) ?? 0));
    for (const id of ids) collection.untrack(id);
    await clock.advance(30_000);
    return { late: known - endedAt, reads: reads() - before };
  }
  return { clock, collection, source, durations, reads, change };
}

describe("the end of a change", () => {
  test.each([
    ["by lists", 3],
    ["by single reads of a large collection", 500],
  ])("is known sooner once a change like it was observed, %s", async (_, size) => {
    const { change } = await open(size);
    const first = await change(["m0"], 4_600);
    expect(first.late).toBeGreaterThan(1_000);
    expect((await change(["m1"], 4_600)).late).toBeLessThanOrEqual(700);
    for (let n = 0; n < 10; n++) await change(["m0"], 4_600);
    const known = await change(["m1"], 4_600);
    expect(known.late).toBeLessThanOrEqual(400);
    expect(known.reads).toBeLessThanOrEqual(first.reads + 3);
  });

  test("is learned for each action apart", async () => {
    const { change, durations } = await open();
    for (const id of ["m0", "m1"]) await change([id], 4_000);
    for (const id of ["new", "newer"]) await change([id], 9_000);
    expect(durations.usual("update")?.to).toBeLessThan(durations.usual("create")?.from ?? 0);
    expect(durations.usual("delete")).toBeUndefined();
  });

  test("is known as soon as without, if the platform is much faster than usual", async () => {
    const { change, durations } = await open();
    for (let n = 0; n < 16; n++) durations.learn("update", 60_000, 60_000);
    const { late } = await change(["m0"], 400);
    expect(late).toBeLessThanOrEqual(3_000);
  });

  test("is known at the poll interval after it, if the platform is much slower than usual", async () => {
    const { change, durations } = await open();
    for (let n = 0; n < 16; n++) durations.learn("update", 500, 500);
    const { late, reads } = await change(["m0"], 12_100);
    expect(late).toBeLessThanOrEqual(1_500);
    expect(reads).toBeLessThanOrEqual(9 + 6);
  });
});

describe("usual durations", () => {
  test("change nothing while many members change", async () => {
    const { change, durations } = await open();
    const many = items(40).map(({ id }) => id);
    const without = await change(many, 7_000);
    for (let n = 0; n < 16; n++) durations.learn("update", 7_000, 7_000);
    expect(await change(many, 7_000)).toEqual(without);
  });

  test("change nothing for the last of many members either", async () => {
    const readsForTheLast = async (learned: number) => {
      const { clock, collection, source, durations, reads } = await open();
      for (let n = 0; n < learned; n++) durations.learn("update", 7_000, 7_000);
      source.put(...items(20, "BUSY"));
      for (const { id } of items(20)) collection.track(id, { since: clock.now() });
      source.put(...items(19));
      await clock.advance(1_500);
      for (const { id } of items(19)) collection.untrack(id);
      const before = reads();
      await clock.advance(15_000);
      return reads() - before;
    };
    expect(await readsForTheLast(16)).toBe(await readsForTheLast(0));
  });

  test("are not learned from a change that another process began", async () => {
    const { clock, change, durations } = await open();
    for (let n = 0; n < 4; n++) await change(["m0"], 4_000, { since: clock.now() - 60_000 });
    expect(durations.usual("update")).toBeUndefined();
  });

  test("are not learned from a change that failed", async () => {
    const { clock, collection, source, durations } = await open();
    const url = "/requests/m0/status";
    source.requests.set(url, { status: "FAILED", message: "no capacity", targets: [] });
    for (let n = 0; n < 4; n++) {
      source.put(item("m0", "FAILED"));
      collection.track("m0", { since: clock.now(), url });
      collection.ask("m0");
      await clock.advance(5_000);
      collection.untrack("m0");
    }
    expect(durations.usual("update")).toBeUndefined();
  });

  test("cause no list after list for a member that lists miss while it is deleted", async () => {
    const { clock, collection, source, durations, reads } = await open();
    for (let n = 0; n < 16; n++) durations.learn("delete", 1_000, 1_000);
    const before = reads();
    collection.track("m0", { since: clock.now(), leaving: true, url: "/requests/m0/status" });
    source.hidden.add("m0");
    await clock.advance(30_000);
    expect(reads() - before).toBeLessThan(30);
  });
});
