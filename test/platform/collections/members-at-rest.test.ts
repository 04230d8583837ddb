import { describe, expect, test } from "vitest";
import { collectionsForFile, urlOf } from "./open-collections.ts";
import { item, items, scriptedSource } from "./scripted-source.ts";

const { openTracked } = collectionsForFile();

describe("a tracked member at rest", () => {
  test("is told again until somebody looks, although nothing changed, but not soon: who was told will look", async () => {
    const source = scriptedSource([item("a")]);
    const { clock, collection, heard, spent, track } = await openTracked(source);
    track("a");
    await clock.advance(61_000);
    expect(heard).toEqual([["a"]]);
    expect(spent().list).toBe(1);
    await clock.advance(1_000);
    expect(heard).toEqual([["a"], ["a"]]);
    collection.untrack("a");
    await clock.advance(60_000);
    expect(heard).toHaveLength(2);
  });

  test("is not looked at by itself either while a few others change", async () => {
    const source = scriptedSource(items(500));
    const { clock, spent, track } = await openTracked(source);
    for (const { id } of items(100)) track(id);
    await clock.advance(1_500);
    expect(spent().list).toBe(1);
    await clock.advance(24_000);
    const before = spent();
    source.put(item("m499", "BUSY"));
    track("m499");
    await clock.advance(3_000);
    expect(spent().get - before.get).toBe(2);
  });

  test("that is changed by somebody else before its owner has looked is watched closely again", async () => {
    const source = scriptedSource([item("a")]);
    const { clock, collection, spent, track } = await openTracked(source);
    track("a");
    await clock.advance(1_500);
    source.put(item("a", "BUSY"));
    collection.refresh([]);
    await clock.advance(1_000);
    expect(spent().list).toBe(2);
    await clock.advance(3_000);
    expect(spent().list).toBe(4);
  });

  test("is not taken to be at rest by a list that started before the change was made known", async () => {
    const source = scriptedSource([item("a")]);
    const { clock, collection, heard, track } = await openTracked(source);
    await clock.advance(60_000);
    track("b");
    const held = source.hold();
    await clock.advance(1_500);
    track("a");
    collection.untrack("b");
    held.release();
    await clock.advance(0);
    expect(heard).toEqual([]);
    await clock.advance(2_100);
    expect(heard).toEqual([["a"]]);
  });

  test("answers when it is asked, with a reading that is younger than the end of its request", async () => {
    const source = scriptedSource([item("a")]);
    const { clock, collection, heard, spent, track } = await openTracked(source);
    track("a");
    source.put(item("a", "AVAILABLE", { cores: 8 }));
    source.requests.set(urlOf("a"), { status: "DONE", targets: [] });
    await clock.advance(100);
    const asked = clock.monotonic();
    collection.ask("a");
    collection.ask("nobody");
    await clock.advance(0);
    expect(spent()).toEqual({ list: 0, get: 1, request: 1 });
    expect(heard).toEqual([["a"]]);
    expect(collection.read("a")).toEqual({
      item: expect.objectContaining(item("a", "AVAILABLE", { cores: 8 })),
      asOf: asked,
      request: { status: "DONE", targets: [], knownAt: asked },
    });
  });

  test("that is asked is told even when the answer is that there is nothing new", async () => {
    const source = scriptedSource([item("a", "BUSY")]);
    const { clock, collection, heard, track } = await openTracked(source);
    track("a");
    collection.ask("a");
    await clock.advance(0);
    expect(heard).toEqual([["a"]]);
  });
});
