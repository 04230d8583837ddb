import { afterEach, describe, expect, test } from "vitest";
import { Forbidden, NotFound, Retry, Unauthorized } from "../../../src/platform/answers/errors.ts";
import { LimitExceeded } from "../../../src/platform/answers/limits.ts";
import {
  type Collection,
  type CollectionOptions,
  openCollection,
} from "../../../src/platform/collections/collection.ts";
import { type Item, PartialList } from "../../../src/platform/collections/reading.ts";
import { fakeClock } from "../../fake-clock.ts";
import { item, items, type ScriptedSource, scriptedSource } from "./scripted-source.ts";

const opened: Collection[] = [];
afterEach(() => {
  for (const collection of opened.splice(0)) collection.close();
});

const minute = 60_000;
const failed = { call: "GET /servers", status: 503 };

async function open(source: ScriptedSource, options: Partial<CollectionOptions> = {}) {
  const clock = fakeClock();
  const collection = openCollection(source, { clock, random: () => 0.5, ...options });
  opened.push(collection);
  const heard: ("all" | string[])[] = [];
  collection.subscribe((ids) => heard.push(ids === "all" ? ids : [...ids].sort()));
  await clock.advance(0);
  return { clock, collection, heard, since: clock.now() };
}

describe("a collection at rest", () => {
  test("costs one list per resync, however many members it has", async () => {
    const source = scriptedSource(items(1_000));
    const { clock, collection, heard } = await open(source);
    await clock.advance(30 * minute);
    expect(source.calls).toEqual({ list: 7, get: 0, request: 0, deletions: 0 });
    expect(heard).toEqual(["all"]);
    expect([...collection.members()]).toHaveLength(1_000);
    expect(source.priorities).toEqual(["normal", ...Array(6).fill("background")]);
  });

  test("spreads its lists by ten percent either way", async () => {
    const early = scriptedSource();
    const { clock } = await open(early, { random: () => 0 });
    await clock.advance(4.5 * minute);
    expect(early.calls.list).toBe(2);
    const late = scriptedSource();
    const other = await open(late, { random: () => 0.999 });
    await other.clock.advance(5.4 * minute);
    expect(late.calls.list).toBe(1);
  });

  test("tells whose reading changed", async () => {
    const source = scriptedSource(items(3));
    const { clock, collection, heard } = await open(source, { restMs: minute });
    source.put(item("m1", "AVAILABLE", { cores: 4 }), item("m9"));
    const at = clock.monotonic() + minute;
    await clock.advance(minute);
    expect(heard).toEqual(["all", ["m1", "m9"]]);
    expect(collection.read("m9")).toEqual({ item: expect.objectContaining(item("m9")), asOf: at, request: undefined });
    expect(collection.read("nobody")).toEqual({ item: undefined, asOf: at, request: undefined });
    expect(collection.listedAt).toBe(at);
  });

  test("looks a little more often while somebody else changes a member", async () => {
    const source = scriptedSource([item("a", "BUSY")]);
    const { clock, heard } = await open(source);
    await clock.advance(5_000);
    source.put(item("a", "AVAILABLE"));
    await clock.advance(5_000);
    expect(heard).toEqual(["all", ["a"]]);
    const spent = source.calls.list;
    await clock.advance(4 * minute);
    expect(source.calls.list).toBe(spent);
  });

  test("looks for a member that is to appear soon, then ever later, and no more once it is there", async () => {
    const source = scriptedSource(items(3));
    const { clock, collection, heard } = await open(source);
    collection.expect("m9");
    await clock.advance(minute);
    const [soon] = [source.calls.list];
    expect(soon).toBeGreaterThan(10);
    await clock.advance(120 * minute);
    const hidden = source.calls.list;
    expect(hidden - soon).toBeLessThan(90);
    collection.expect("m9");
    await clock.advance(20 * minute);
    expect(source.calls.list - hidden).toBeLessThan(6);
    collection.expect("m8");
    source.put(item("m8"), item("m9"));
    await clock.advance(1_500);
    expect(heard).toEqual(["all", ["m8", "m9"]]);
    const seen = source.calls.list;
    await clock.advance(4 * minute);
    expect(source.calls.list).toBe(seen);
  });

  test("does not look for a member any more that nobody follows", async () => {
    const source = scriptedSource();
    const { clock, collection } = await open(source);
    collection.expect("m9");
    collection.untrack("m9");
    await clock.advance(4 * minute);
    expect(source.calls.list).toBe(1);
  });

  test("asks a second time before it gives up a member that a list missed", async () => {
    const source = scriptedSource(items(3));
    const { clock, collection, heard } = await open(source);
    source.hidden.add("m1");
    await clock.advance(5 * minute);
    expect(collection.read("m1").item).toBeDefined();
    source.hidden.clear();
    await clock.advance(1_500);
    expect(source.calls.list).toBe(3);
    expect(heard).toEqual(["all"]);
    source.there.delete("m1");
    await clock.advance(5 * minute + 1_500);
    expect(collection.read("m1").item).toBeUndefined();
    expect(heard).toEqual(["all", ["m1"]]);
  });
});

describe("a refresh", () => {
  test("lists at once and tells who asked, even when nothing changed", async () => {
    const source = scriptedSource(items(3));
    const { clock, collection, heard } = await open(source);
    await clock.advance(minute);
    const asked = clock.monotonic();
    collection.refresh(["m1"]);
    collection.refresh(["m2"]);
    await clock.advance(0);
    expect(source.calls.list).toBe(2);
    expect(heard).toEqual(["all", ["m1", "m2"]]);
    expect(collection.listedAt).toBe(asked);
    expect(source.priorities.at(-1)).toBe("normal");
  });

  test("during a list means one more list after it, never two at once", async () => {
    const source = scriptedSource(items(3));
    const { clock, collection, heard } = await open(source);
    await clock.advance(minute);
    const held = source.hold();
    collection.refresh(["m0"]);
    await clock.advance(0);
    collection.refresh(["m1"]);
    collection.refresh([]);
    await clock.advance(10_000);
    expect(source.calls.list).toBe(2);
    held.release();
    await clock.advance(1_000);
    expect(source.calls.list).toBe(3);
    expect(heard).toEqual(["all", ["m0"], ["m1"]]);
  });

  test("by one after the other is one list for many of them", async () => {
    const source = scriptedSource(items(50));
    const { clock, collection, heard } = await open(source);
    await clock.advance(minute);
    const begin = source.calls.list;
    for (let n = 0; n < 50; n++) {
      collection.refresh([`m${n}`]);
      await clock.advance(300);
    }
    await clock.advance(2_200);
    // The first gets a list of its own; then one after fifteen seconds, and one every six.
    expect(source.calls.list - begin).toBe(4);
    expect(heard.slice(1).flat().sort()).toEqual(
      items(50)
        .map(({ id }) => id)
        .sort(),
    );
  });

  test("by one after the other is one list for many of them, also when they come slowly", async () => {
    const source = scriptedSource(items(50));
    const { clock, collection, heard } = await open(source);
    await clock.advance(minute);
    const begin = source.calls.list;
    for (let n = 0; n < 50; n++) {
      collection.refresh([`m${n}`]);
      await clock.advance(1_200);
    }
    await clock.advance(10_000);
    expect(heard.slice(1).flat()).toHaveLength(50);
    expect(source.calls.list - begin).toBeLessThanOrEqual(13);
  });

  test("of a large collection waits the longer, so that many who ask share a list", async () => {
    const source = scriptedSource(items(1_000));
    const { clock, collection } = await open(source);
    for (let n = 0; n < 100; n++) {
      collection.refresh([`m${n}`]);
      await clock.advance(100);
    }
    // Ten seconds, with a list every 1.5 seconds.
    expect(source.calls.list).toBeLessThanOrEqual(8);
  });
});

describe("a list that fails", () => {
  test("keeps what is known, names the problem, and recovers with a backoff", async () => {
    const source = scriptedSource(items(3));
    const { clock, collection, heard } = await open(source, { restMs: minute });
    const problem = new Retry(failed, "no");
    source.failing = problem;
    await clock.advance(minute);
    expect(collection.problem).toBe(problem);
    expect(collection.read("m1").item).toBeDefined();
    expect(heard).toEqual(["all", "all"]);
    await clock.advance(10 * minute);
    expect(heard).toEqual(["all", "all"]);
    expect(source.calls.list).toBeLessThan(22);
    source.failing = undefined;
    await clock.advance(minute);
    expect(collection.problem).toBeUndefined();
    expect(heard).toEqual(["all", "all", "all"]);
  });

  test("waits as long as the platform asks", async () => {
    const source = scriptedSource();
    source.failing = new Retry({ ...failed, status: 429 }, "no", 90_000);
    const { clock, collection } = await open(source);
    collection.refresh([]);
    await clock.advance(89_000);
    expect(source.calls.list).toBe(1);
    await clock.advance(1_000);
    expect(source.calls.list).toBe(2);
  });

  test("for want of rights waits for people, and a refresh may try at once", async () => {
    for (const problem of [new Unauthorized({ ...failed, status: 401 }), new Forbidden({ ...failed, status: 403 })]) {
      const source = scriptedSource();
      source.failing = problem;
      const { clock, collection } = await open(source);
      await clock.advance(10_000);
      expect(source.calls.list).toBe(1);
      source.failing = undefined;
      collection.refresh([]);
      await clock.advance(0);
      expect(collection.problem).toBeUndefined();
      expect(collection.listedAt).toBe(clock.monotonic());
    }
  });

  test("that is still refused after a refresh does not become a storm", async () => {
    const source = scriptedSource();
    source.failing = new Unauthorized({ ...failed, status: 401 });
    const { clock, collection } = await open(source);
    await clock.advance(1_000);
    collection.refresh([]);
    await clock.advance(10_000);
    expect(source.calls.list).toBe(2);
  });

  test("with anything unexpected is a problem as well, not a crash", async () => {
    const source = scriptedSource();
    source.list = async () => {
      throw new TypeError("a bug");
    };
    const { collection } = await open(source);
    expect(collection.problem).toMatchObject({ kind: "Retry" });
    expect(collection.listedAt).toBeUndefined();
  });
});

describe("a list of more than is taken", () => {
  const limit = "the list has more than 60,000 items";
  const tooLarge = () => new Retry({ ...failed, status: 200, detail: limit, cause: new LimitExceeded(limit) }, "no");

  test("names the limit, is not read again before the next resync, and members that are asked for are read alone", async () => {
    const source = scriptedSource(items(3));
    source.failing = tooLarge();
    const { clock, collection, heard } = await open(source, { restMs: 5 * minute });
    expect([collection.isTooLarge, collection.problem?.message]).toEqual([true, expect.stringContaining(limit)]);
    expect(collection.read("m1")).toMatchObject({ item: undefined, asOf: undefined });
    collection.refresh(["m1", "gone"]);
    await clock.advance(1000);
    expect(collection.read("m1").item).toMatchObject({ id: "m1" });
    expect(collection.read("gone")).toMatchObject({ item: undefined, asOf: expect.any(Number) });
    expect(heard.at(-1)).toEqual(["gone", "m1"]);
    await clock.advance(2 * minute);
    expect(source.calls).toMatchObject({ list: 1, get: 2 });
  });

  test("does not keep the end of a deletion from being known", async () => {
    const source = scriptedSource(items(3));
    source.failing = tooLarge();
    const { clock, collection, heard } = await open(source);
    collection.track("m1", { url: "/requests/r1/status", since: clock.now(), leaving: true });
    source.there.delete("m1");
    source.requests.set("/requests/r1/status", { status: "DONE", targets: [] });
    await clock.advance(5000);
    expect(collection.read("m1")).toMatchObject({ item: undefined, request: { status: "DONE" } });
    expect(heard.flat()).toContain("m1");
  });

  test("that fits again is listed as any other", async () => {
    const source = scriptedSource(items(3));
    source.failing = tooLarge();
    const { clock, collection } = await open(source, { restMs: minute });
    source.failing = undefined;
    await clock.advance(2 * minute);
    expect([collection.isTooLarge, [...collection.members()].length]).toEqual([false, 3]);
  });
});

describe("a list with an item that is none", () => {
  const invalid = "unexpected body: items.3.id: not an id of the platform's form";
  const partial = (...seen: Item[]) => new PartialList({ ...failed, status: 200, detail: invalid }, seen);

  test("shows its other members, and proves no absence", async () => {
    const source = scriptedSource(items(3));
    const { clock, collection, heard } = await open(source, { restMs: minute });
    source.failing = partial(item("m1", "AVAILABLE", { cores: 2 }), item("m5"));
    const before = collection.read("m1").asOf ?? 0;
    await clock.advance(5 * minute);
    expect([...collection.members()].map(({ id }) => id)).toEqual(["m0", "m1", "m2", "m5"]);
    expect(collection.read("m1")).toMatchObject({ item: { raw: { properties: { cores: 2 } } } });
    expect(collection.read("m1").asOf).toBeGreaterThan(before);
    expect(collection.read("m0").asOf).toBe(before);
    expect(collection.read("never").asOf).toBe(before);
    expect([collection.isPartial, collection.isTooLarge]).toEqual([true, false]);
    expect(collection.problem?.message).toContain(invalid);
    expect(heard).toEqual(["all", "all"]);
    source.failing = partial(item("m6"));
    await clock.advance(2 * minute);
    expect(heard.at(-1)).toEqual(["m6"]);
  });

  test("is logged once while it lasts", async () => {
    const source = scriptedSource(items(3));
    source.failing = partial(item("m1"));
    const warnings: object[] = [];
    const log = { debug: () => {}, info: () => {}, error: () => {}, warn: (what: object) => void warnings.push(what) };
    const { clock } = await open(source, { restMs: minute, log });
    await clock.advance(10 * minute);
    expect(source.calls.list).toBeGreaterThan(5);
    expect(warnings).toEqual([{ collection: source.key, problem: expect.stringContaining(invalid) }]);
  });

  test("keeps no change from being known: members are read alone", async () => {
    const source = scriptedSource(items(3, "BUSY"));
    source.failing = partial(item("m0"));
    const { clock, collection, heard } = await open(source);
    collection.track("m1", { url: "/requests/r1/status", since: clock.now(), leaving: true });
    collection.track("m2", { url: "/requests/r2/status", since: clock.now() });
    source.there.delete("m1");
    source.put(item("m2"));
    source.requests.set("/requests/r1/status", { status: "DONE", targets: [] });
    source.requests.set("/requests/r2/status", { status: "DONE", targets: [] });
    await clock.advance(5000);
    expect(collection.read("m1")).toMatchObject({ item: undefined, request: { status: "DONE" } });
    expect(collection.read("m2")).toMatchObject({ item: { state: "AVAILABLE" } });
    expect(heard.flat()).toEqual(expect.arrayContaining(["m1", "m2"]));
  });

  test("that is whole again shows absence again", async () => {
    const source = scriptedSource(items(3));
    const { clock, collection } = await open(source, { restMs: minute });
    source.failing = partial(item("m1"));
    await clock.advance(2 * minute);
    source.failing = undefined;
    source.there.delete("m0");
    await clock.advance(4 * minute);
    expect([collection.isPartial, collection.read("m0").item]).toEqual([false, undefined]);
  });
});

describe("a collection whose parent is not found", () => {
  test("says so at once and gives up its members when that is confirmed", async () => {
    const source = scriptedSource(items(3));
    const { clock, collection, heard } = await open(source, { restMs: minute });
    source.failing = new NotFound({ ...failed, status: 404 });
    await clock.advance(minute);
    expect(collection.gone).toBe(true);
    expect(collection.read("m1").item).toBeDefined();
    await clock.advance(1_500);
    expect(collection.read("m1").item).toBeUndefined();
    expect(collection.read("m1").asOf).toBeGreaterThan(collection.listedAt ?? 0);
    await clock.advance(10 * minute);
    expect(heard).toEqual(["all", "all", "all"]);
    source.failing = undefined;
    await clock.advance(minute);
    expect(collection.gone).toBe(false);
    expect(collection.read("m1").item).toBeDefined();
    expect(heard).toHaveLength(4);
  });
});

describe("listeners", () => {
  test("that throw are logged and disturb nobody", async () => {
    const warnings: string[] = [];
    const log = { debug() {}, info() {}, warn: (_: object, message: string) => warnings.push(message) };
    const clock = fakeClock();
    const collection = openCollection(scriptedSource(items(1)), { clock, log });
    opened.push(collection);
    collection.subscribe(() => {
      throw new Error("oops");
    });
    let heard = 0;
    const stop = collection.subscribe(() => heard++);
    await clock.advance(0);
    expect(heard).toBe(1);
    expect(warnings).toHaveLength(1);
    stop();
    collection.refresh([]);
    await clock.advance(1_000);
    expect(heard).toBe(1);
  });

  test("hear nothing after close, not even of a list that was under way", async () => {
    const source = scriptedSource(items(1));
    const { clock, collection, heard } = await open(source);
    const held = source.hold();
    collection.refresh([]);
    await clock.advance(minute);
    collection.close();
    held.release();
    await clock.advance(60 * minute);
    expect(source.calls.list).toBe(2);
    expect(heard).toEqual(["all"]);
    expect(clock.pending).toBe(0);
  });
});
