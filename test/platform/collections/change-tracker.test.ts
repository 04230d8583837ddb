import { describe, expect, test } from "vitest";
import { NotFound, Retry } from "../../../src/platform/answers/errors.ts";
import { collectionsForFile, urlOf } from "./open-collections.ts";
import { item, items, scriptedSource } from "./scripted-source.ts";

const { openTracked } = collectionsForFile();

describe("many members that change", () => {
  test("cost lists only, one every second and a half", async () => {
    const source = scriptedSource();
    const { clock, collection, heard, spent, track } = await openTracked(source);
    for (const busy of items(300, "BUSY")) {
      source.put(busy);
      track(busy.id);
    }
    await clock.advance(6_000);
    expect(spent()).toEqual({ list: 4, get: 0, request: 0 });
    expect(source.priorities.at(-1)).toBe("normal");
    source.put(...items(300));
    await clock.advance(1_500);
    expect(heard.at(-1)).toHaveLength(300);
    for (const { id } of items(300)) collection.untrack(id);
    await clock.advance(200_000);
    expect(spent()).toEqual({ list: 5, get: 0, request: 0 });
  });

  test("are listed ever less often while nothing happens, and closely again after a change", async () => {
    const source = scriptedSource([item("a", "BUSY")]);
    const { clock, spent, track } = await openTracked(source);
    track("a");
    await clock.advance(15_000);
    expect(spent().list).toBe(10);
    await clock.advance(45_000);
    const firstMinute = spent().list;
    expect(firstMinute).toBeLessThan(30);
    await clock.advance(60 * 60_000);
    expect(spent().list - firstMinute).toBeLessThan(180);
    source.put(item("b"));
    await clock.advance(30_000);
    const changed = spent().list;
    await clock.advance(6_000);
    expect(spent().list - changed).toBeGreaterThanOrEqual(2);
  });

  test("are not listed at once after a rest, for they have only just begun", async () => {
    const source = scriptedSource();
    const { clock, spent, track } = await openTracked(source);
    await clock.advance(60_000);
    track("a");
    await clock.advance(1_400);
    expect(spent().list).toBe(0);
    await clock.advance(100);
    expect(spent().list).toBe(1);
  });

  test("a stream of new ones is listed together, but not put off for ever", async () => {
    const source = scriptedSource();
    const { clock, spent, track } = await openTracked(source);
    await clock.advance(60_000);
    for (let n = 0; n < 200; n++) {
      track(`m${n}`);
      await clock.advance(100);
    }
    expect(spent().list).toBe(3);
    await clock.advance(2_000);
    expect(spent().list).toBe(4);
  });

  test("a slow stream of new ones is listed together as well, and what comes after a rest is listed soon", async () => {
    const source = scriptedSource();
    const { clock, collection, spent, track } = await openTracked(source);
    await clock.advance(60_000);
    for (let n = 0; n < 50; n++) {
      track(`m${n}`);
      source.put(item(`m${n}`));
      await clock.advance(2_000);
      for (const { id } of collection.members()) collection.untrack(id);
    }
    expect(spent().list).toBeLessThanOrEqual(25);
    await clock.advance(60_000);
    const before = spent().list;
    track("late");
    await clock.advance(1_500);
    expect(spent().list - before).toBe(1);
  });

  test("the more there is to list, the longer a stream of new ones waits for each other", async () => {
    const source = scriptedSource(items(1_000));
    const { clock, spent, track } = await openTracked(source);
    await clock.advance(60_000);
    for (let n = 0; n < 200; n++) {
      track(`m${n}`);
      await clock.advance(100);
    }
    // 6 s plus 12 ms for each of the thousand: the first is due after 18 s.
    expect(spent().list).toBe(1);
  });

  test("the same change made known again changes nothing", async () => {
    const source = scriptedSource([item("a", "BUSY")]);
    const { clock, collection, spent } = await openTracked(source);
    const change = { since: clock.now() };
    for (let n = 0; n < 600; n++) {
      collection.track("a", change);
      await clock.advance(100);
    }
    expect(spent().list).toBeLessThan(30);
  });
});

describe("members are followed in the way that costs less", () => {
  test("a hundred of ten thousand are looked at one by one", async () => {
    const source = scriptedSource(items(10_000));
    const { clock, spent, track } = await openTracked(source);
    source.put(...items(100, "BUSY"));
    for (let n = 0; n < 100; n++) track(`m${n}`);
    await clock.advance(3_000);
    expect(spent()).toEqual({ list: 0, get: 200, request: 0 });
  });

  test("one after the other they are listed together, though only a few are changing at a time", async () => {
    const source = scriptedSource(items(500));
    const { clock, collection, spent, track } = await openTracked(source);
    for (let n = 0; n < 240; n++) {
      track(`m${n}`);
      await clock.advance(250);
      if (n >= 6) collection.untrack(`m${n - 6}`);
    }
    const { list, get, request } = spent();
    expect(list).toBeLessThanOrEqual(6);
    expect(get + request).toBeLessThan(60);
  });

  test("lists are further apart where few of many are changing and cannot be looked at one by one", async () => {
    const source = scriptedSource(items(1_000, "BUSY"));
    Object.assign(source, { get: undefined, requestStatus: undefined });
    const { clock, spent, track } = await openTracked(source);
    for (let n = 0; n < 10; n++) track(`m${n}`);
    await clock.advance(12_000);
    expect(spent().list).toBeLessThanOrEqual(3);
  });
});

describe("a few members of a large collection that change", () => {
  test("are read one by one, which is all that it takes, and never cause a list", async () => {
    const source = scriptedSource(items(500));
    const { clock, collection, heard, spent, track } = await openTracked(source);
    source.put(item("a", "BUSY"), item("b", "BUSY"));
    track("a");
    track("b");
    await clock.advance(15_000);
    expect(spent()).toEqual({ list: 0, get: 20, request: 0 });
    expect(heard).toEqual([["a"], ["b"]]);
    source.put(item("a"));
    await clock.advance(1_600);
    expect(heard.slice(2)).toEqual([["a"]]);
    expect(collection.read("a")).toMatchObject({ item: { state: "AVAILABLE" }, request: undefined });
    collection.untrack("a");
    await clock.advance(60_000);
    expect(spent()).toMatchObject({ list: 0, request: 0 });
    expect(spent().get).toBeLessThan(60);
  });

  test("that cannot be seen yet are looked for, and their request is asked after a while", async () => {
    const source = scriptedSource(items(500));
    const { clock, collection, heard, spent, track } = await openTracked(source);
    track("new");
    await clock.advance(4_500);
    expect(spent()).toEqual({ list: 0, get: 3, request: 0 });
    await clock.advance(60_000);
    expect(spent().list).toBe(0);
    expect(spent().request).toBeGreaterThanOrEqual(2);
    expect(spent().request).toBeLessThanOrEqual(5);
    expect(heard).toEqual([]);
    source.put(item("new"));
    await clock.advance(6_000);
    expect(heard[0]).toEqual(["new"]);
    expect(collection.read("new")).toMatchObject({ item: { id: "new" } });
  });

  test("that failed are told with the reason", async () => {
    const source = scriptedSource([...items(500), item("a", "FAILED_UPDATE")]);
    const { clock, collection, heard, spent, track } = await openTracked(source);
    source.requests.set(urlOf("a"), { status: "FAILED", message: "no capacity", targets: [] });
    track("a");
    await clock.advance(1_500);
    expect(heard).toEqual([["a"]]);
    expect(collection.read("a").request).toMatchObject({ status: "FAILED", message: "no capacity" });
    await clock.advance(1_500);
    expect(spent()).toMatchObject({ list: 0, request: 1 });
  });

  test("that vanish are asked for their reason, and given up when a second read misses them", async () => {
    const source = scriptedSource([...items(500), item("a", "BUSY")]);
    const { clock, collection, heard, spent, track } = await openTracked(source);
    source.requests.set(urlOf("a"), { status: "FAILED", message: "why", targets: [] });
    track("a");
    source.there.delete("a");
    await clock.advance(1_500);
    expect(heard).toEqual([["a"]]);
    expect(collection.read("a")).toMatchObject({ item: undefined, request: { status: "FAILED", message: "why" } });
    expect(spent()).toEqual({ list: 0, get: 2, request: 1 });
  });

  test("wait for a list that somebody asks for", async () => {
    const source = scriptedSource([...items(500)]);
    const { clock, collection, heard, spent, track } = await openTracked(source);
    track("m7");
    await clock.advance(1_000);
    collection.refresh(["m8"]);
    await clock.advance(3_000);
    expect(spent()).toEqual({ list: 1, get: 0, request: 0 });
    expect(heard).toEqual([["m7", "m8"]]);
  });

  test("that are deleted are gone when their request says so and the member is not found", async () => {
    const source = scriptedSource(items(500));
    const { clock, collection, heard, track } = await openTracked(source);
    track("m7", { leaving: true });
    source.there.delete("m7");
    source.requests.set(urlOf("m7"), { status: "DONE", targets: [] });
    await clock.advance(1_500);
    expect(heard).toEqual([["m7"]]);
    expect(collection.read("m7").item).toBeUndefined();
  });

  test("without a request are read themselves", async () => {
    const source = scriptedSource([...items(500), item("p", "BUSY")]);
    const { clock, collection, heard, spent } = await openTracked(source);
    collection.track("p", { since: clock.now() });
    await clock.advance(3_000);
    expect(spent()).toEqual({ list: 0, get: 2, request: 0 });
    expect(heard).toEqual([]);
    source.put(item("p"));
    await clock.advance(1_500);
    expect(heard).toEqual([["p"]]);
  });

  test("survive failing looks, and fall back to the member when the request is unknown", async () => {
    const source = scriptedSource(items(500));
    const { clock, heard, spent, track } = await openTracked(source);
    source.failingRequests = new Retry({ call: "GET /requests", status: 503 }, "no", 20_000);
    track("m7", { leaving: true });
    await clock.advance(21_000);
    expect(spent().request).toBe(1);
    source.failingRequests = new NotFound({ call: "GET /requests", status: 404 });
    await clock.advance(60_000);
    expect(spent().get).toBeGreaterThan(0);
    expect(heard.flat()).toContain("m7");
  });
});
