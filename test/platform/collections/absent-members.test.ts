import { describe, expect, test } from "vitest";
import { Retry } from "../../../src/platform/answers/errors.ts";
import { collectionsForFile, DONE, urlOf } from "./open-collections.ts";
import { item, items, scriptedSource } from "./scripted-source.ts";

const { openTracked } = collectionsForFile();

describe("many members that are being deleted", () => {
  test("are gone when a list misses them and their requests say so, all asked in one call", async () => {
    const source = scriptedSource(items(300));
    const { clock, collection, heard, spent, track } = await openTracked(source);
    for (const { id } of items(300)) {
      track(id, { leaving: true });
      source.there.delete(id);
      source.requests.set(urlOf(id), DONE);
    }
    await clock.advance(1_500);
    expect(heard).toHaveLength(1);
    expect(heard[0]).toHaveLength(300);
    expect(collection.read("m7")).toMatchObject({ item: undefined, request: { status: "DONE" } });
    expect(spent()).toEqual({ list: 1, get: 0, request: 0, deletions: 1 });
  });

  test("are not gone, however many lists miss them, while their requests are under way", async () => {
    const source = scriptedSource(items(300));
    const { clock, collection, heard, track } = await openTracked(source);
    for (const { id } of items(300)) {
      track(id, { leaving: true });
      source.hidden.add(id);
    }
    await clock.advance(60_000);
    expect(heard).toEqual([]);
    expect(collection.read("m7").request?.status).not.toBe("DONE");
    // One deletion fails, and the member is listed again.
    source.requests.set(urlOf("m7"), { status: "FAILED", message: "[VDC-1] no", targets: [] });
    source.hidden.delete("m7");
    await clock.advance(10_000);
    expect(collection.read("m7")).toMatchObject({ item: { id: "m7" } });
    expect(heard.flat()).not.toContain("m8");
  });

  test("are not gone while nobody answers how far their requests are", async () => {
    const source = scriptedSource(items(300));
    const { clock, heard, track } = await openTracked(source);
    for (const { id } of items(300)) track(id, { leaving: true });
    source.there.clear();
    source.failingRequests = new Retry({ call: "GET /requests", status: 503 }, "no");
    await clock.advance(20_000);
    expect(heard).toEqual([]);
    source.failingRequests = undefined;
    for (const { id } of items(300)) source.requests.set(urlOf(id), DONE);
    await clock.advance(30_000);
    expect(heard.flat()).toContain("m7");
  });

  test("are not gone when one list misses them and the next does not", async () => {
    const source = scriptedSource(items(300, "BUSY"));
    const { clock, collection, heard, track } = await openTracked(source);
    for (const { id } of items(300)) track(id, { leaving: true });
    source.hidden.add("m7");
    await clock.advance(1_500);
    source.hidden.delete("m7");
    await clock.advance(10_000);
    expect(collection.read("m7")).toMatchObject({ item: { id: "m7" }, request: undefined });
    source.hidden.add("m7");
    await clock.advance(1_000);
    expect(collection.read("m7").request).toBeUndefined();
    expect(heard.flat()).not.toContain("m8");
  });

  test("are not gone by a list that began before", async () => {
    const source = scriptedSource();
    const { clock, collection, track } = await openTracked(source);
    await clock.advance(60_000);
    const held = source.hold();
    collection.refresh([]);
    await clock.advance(0);
    track("new", { leaving: true });
    source.requests.set(urlOf("new"), DONE);
    held.release();
    await clock.advance(1_499);
    expect(source.calls.deletions).toBe(0);
    await clock.advance(1);
    expect(source.calls.deletions).toBe(1);
  });
});

describe("a tracked member that no list shows", () => {
  test("is not visible yet: its request is asked for after a while, ever less often", async () => {
    const source = scriptedSource();
    const { clock, collection, heard, spent, track } = await openTracked(source);
    track("late");
    await clock.advance(4_400);
    expect(spent().request).toBe(0);
    await clock.advance(60_000);
    expect(spent().request).toBeGreaterThanOrEqual(2);
    expect(spent().request).toBeLessThanOrEqual(5);
    expect(collection.read("late")).toMatchObject({ item: undefined, request: { status: "BUSY" } });
    expect(heard).toEqual([]);
    source.put(item("late", "BUSY"));
    await clock.advance(6_000);
    expect(heard).toEqual([["late"]]);
  });

  test("is told to have failed, with the reason, asked for once", async () => {
    const source = scriptedSource();
    const { clock, collection, heard, spent, track } = await openTracked(source);
    track("doomed");
    source.requests.set(urlOf("doomed"), { status: "FAILED", message: "[VDC-1-2] no capacity", targets: [] });
    await clock.advance(9_000);
    expect(heard[0]).toEqual(["doomed"]);
    expect(collection.read("doomed").request).toMatchObject({ status: "FAILED", message: "[VDC-1-2] no capacity" });
    await clock.advance(60_000);
    expect(spent()).toMatchObject({ request: 1, get: 0 });
  });

  test("of a restarted process is given the same time: the clock of the one before may have been another", async () => {
    const source = scriptedSource();
    const { clock, collection, spent } = await openTracked(source);
    collection.track("old", { url: urlOf("old"), since: clock.now() - 60_000 });
    await clock.advance(1_500);
    expect(spent()).toMatchObject({ list: 1, request: 0 });
    await clock.advance(6_000);
    expect(spent()).toMatchObject({ request: 1 });
  });
});

describe("a tracked member that vanishes", () => {
  test("is asked for its reason at once, and given up with it", async () => {
    const source = scriptedSource();
    const { clock, collection, heard, spent, track } = await openTracked(source);
    source.put(item("a", "BUSY"));
    track("a");
    await clock.advance(1_500);
    source.there.delete("a");
    source.requests.set(urlOf("a"), { status: "FAILED", message: "why", targets: [] });
    await clock.advance(1_500);
    expect(collection.read("a")).toMatchObject({ item: undefined, request: { status: "FAILED", message: "why" } });
    expect(heard).toEqual([["a"], ["a"]]);
    await clock.advance(60_000);
    expect(spent().request).toBe(1);
  });

  test("from one list only stays known", async () => {
    const source = scriptedSource();
    const { clock, collection, track } = await openTracked(source);
    source.put(item("a", "BUSY"));
    track("a");
    await clock.advance(1_500);
    source.hidden.add("a");
    await clock.advance(1_500);
    expect(collection.read("a").item?.state).toBe("BUSY");
    source.hidden.clear();
    source.put(item("a"));
    await clock.advance(1_500);
    expect(collection.read("a").item?.state).toBe("AVAILABLE");
  });

  test("because it was deleted without a request is gone when two lists and a read of it miss it", async () => {
    const source = scriptedSource(items(20));
    const { clock, collection, heard, spent, track } = await openTracked(source);
    for (const { id } of items(20)) track(id, { leaving: true, url: undefined });
    source.there.clear();
    await clock.advance(1_500);
    expect([heard, spent()]).toEqual([[], { list: 1, get: 0, request: 0 }]);
    await clock.advance(1_500);
    expect(new Set(heard.flat()).size).toBe(20);
    expect([...collection.members()]).toEqual([]);
    expect(spent()).toEqual({ list: 2, get: 20, request: 0 });
  });

  test("from lists, because it was deleted without a request, and is there when it is read, is not gone", async () => {
    const source = scriptedSource(items(20));
    const { clock, collection, track } = await openTracked(source);
    for (const { id } of items(20)) {
      track(id, { leaving: true, url: undefined });
      source.hidden.add(id);
    }
    await clock.advance(20_000);
    expect(collection.read("m7")).toMatchObject({ item: { id: "m7" }, request: undefined });
  });
});
