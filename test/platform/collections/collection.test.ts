import { describe, expect, onTestFinished, test } from "vitest";
import { NotFound } from "../../../src/platform/answers/errors.ts";
import { openCollection } from "../../../src/platform/collections/collection.ts";
import { fakeClock } from "../../fake-clock.ts";
import { collectionsForFile } from "./open-collections.ts";
import { item, items, scriptedSource } from "./scripted-source.ts";

const minute = 60_000;
const failed = { call: "GET /servers", status: 503 };
const { open } = collectionsForFile();

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
    onTestFinished(() => collection.close());
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
