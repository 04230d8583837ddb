import { afterEach, describe, expect, test } from "vitest";
import { NotFound, Retry } from "../../../src/platform/answers/errors.ts";
import { type Collection, openCollection } from "../../../src/platform/collections/collection.ts";
import { fakeClock } from "../../fake-clock.ts";
import { item, items, type ScriptedSource, scriptedSource } from "./scripted-source.ts";

const opened: Collection[] = [];
afterEach(() => {
  for (const collection of opened.splice(0)) collection.close();
});

const urlOf = (id: string) => `/requests/${id}/status`;
const DONE = { status: "DONE", targets: [] } as const;

async function open(source: ScriptedSource) {
  const clock = fakeClock();
  const collection = openCollection(source, { clock, random: () => 0.5 });
  opened.push(collection);
  const heard: ("all" | string[])[] = [];
  await clock.advance(0);
  collection.subscribe((ids) => heard.push(ids === "all" ? ids : [...ids].sort()));
  const begin = { ...source.calls };
  const spent = () => ({
    list: source.calls.list - begin.list,
    get: source.calls.get - begin.get,
    request: source.calls.request - begin.request,
    ...(source.calls.deletions > 0 && { deletions: source.calls.deletions }),
  });
  const track = (id: string, more: object = {}) =>
    collection.track(id, { url: urlOf(id), since: clock.now(), ...more });
  return { clock, collection, heard, spent, track };
}

describe("many members in flux", () => {
  test("cost lists only, one every second and a half", async () => {
    const source = scriptedSource();
    const { clock, collection, heard, spent, track } = await open(source);
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
    const { clock, spent, track } = await open(source);
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
    const { clock, spent, track } = await open(source);
    await clock.advance(60_000);
    track("a");
    await clock.advance(1_400);
    expect(spent().list).toBe(0);
    await clock.advance(100);
    expect(spent().list).toBe(1);
  });

  test("a stream of new ones is listed together, but not put off for ever", async () => {
    const source = scriptedSource();
    const { clock, spent, track } = await open(source);
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
    const { clock, collection, spent, track } = await open(source);
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
    const { clock, spent, track } = await open(source);
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
    const { clock, collection, spent } = await open(source);
    const change = { since: clock.now() };
    for (let n = 0; n < 600; n++) {
      collection.track("a", change);
      await clock.advance(100);
    }
    expect(spent().list).toBeLessThan(30);
  });
});

describe("many members that are being deleted", () => {
  test("are gone when a list misses them and their requests say so, all asked in one call", async () => {
    const source = scriptedSource(items(300));
    const { clock, collection, heard, spent, track } = await open(source);
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
    const { clock, collection, heard, track } = await open(source);
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
    const { clock, heard, track } = await open(source);
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
    const { clock, collection, heard, track } = await open(source);
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
    const { clock, collection, track } = await open(source);
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

describe("what costs less is done", () => {
  test("a hundred of ten thousand are looked at one by one", async () => {
    const source = scriptedSource(items(10_000));
    const { clock, spent, track } = await open(source);
    source.put(...items(100, "BUSY"));
    for (let n = 0; n < 100; n++) track(`m${n}`);
    await clock.advance(3_000);
    expect(spent()).toEqual({ list: 0, get: 200, request: 0 });
  });

  test("one after the other they are listed together, though only a few are changing at a time", async () => {
    const source = scriptedSource(items(500));
    const { clock, collection, spent, track } = await open(source);
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
    const { clock, spent, track } = await open(source);
    for (let n = 0; n < 10; n++) track(`m${n}`);
    await clock.advance(12_000);
    expect(spent().list).toBeLessThanOrEqual(3);
  });
});

describe("a few of a large collection in flux", () => {
  test("are read one by one, which is all that it takes, and never cause a list", async () => {
    const source = scriptedSource(items(500));
    const { clock, collection, heard, spent, track } = await open(source);
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
    const { clock, collection, heard, spent, track } = await open(source);
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
    const { clock, collection, heard, spent, track } = await open(source);
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
    const { clock, collection, heard, spent, track } = await open(source);
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
    const { clock, collection, heard, spent, track } = await open(source);
    track("m7");
    await clock.advance(1_000);
    collection.refresh(["m8"]);
    await clock.advance(3_000);
    expect(spent()).toEqual({ list: 1, get: 0, request: 0 });
    expect(heard).toEqual([["m7", "m8"]]);
  });

  test("that are deleted are gone when their request says so and the member is not found", async () => {
    const source = scriptedSource(items(500));
    const { clock, collection, heard, track } = await open(source);
    track("m7", { leaving: true });
    source.there.delete("m7");
    source.requests.set(urlOf("m7"), { status: "DONE", targets: [] });
    await clock.advance(1_500);
    expect(heard).toEqual([["m7"]]);
    expect(collection.read("m7").item).toBeUndefined();
  });

  test("without a request are read themselves", async () => {
    const source = scriptedSource([...items(500), item("p", "BUSY")]);
    const { clock, collection, heard, spent } = await open(source);
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
    const { clock, heard, spent, track } = await open(source);
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

describe("a tracked member that no list shows", () => {
  test("is not visible yet: its request is asked for after a while, ever less often", async () => {
    const source = scriptedSource();
    const { clock, collection, heard, spent, track } = await open(source);
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
    const { clock, collection, heard, spent, track } = await open(source);
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
    const { clock, collection, spent } = await open(source);
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
    const { clock, collection, heard, spent, track } = await open(source);
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
    const { clock, collection, track } = await open(source);
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
    const { clock, collection, heard, spent, track } = await open(source);
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
    const { clock, collection, track } = await open(source);
    for (const { id } of items(20)) {
      track(id, { leaving: true, url: undefined });
      source.hidden.add(id);
    }
    await clock.advance(20_000);
    expect(collection.read("m7")).toMatchObject({ item: { id: "m7" }, request: undefined });
  });
});

describe("a tracked member at rest", () => {
  test("is told again until somebody looks, although nothing changed, but not soon: who was told will look", async () => {
    const source = scriptedSource([item("a")]);
    const { clock, collection, heard, spent, track } = await open(source);
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
    const { clock, spent, track } = await open(source);
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
    const { clock, collection, spent, track } = await open(source);
    track("a");
    await clock.advance(1_500);
    source.put(item("a", "BUSY"));
    collection.refresh([]);
    await clock.advance(1_000);
    expect(spent().list).toBe(2);
    await clock.advance(3_000);
    expect(spent().list).toBe(4);
  });

  test("is not taken to be so by a list that started before the change was made known", async () => {
    const source = scriptedSource([item("a")]);
    const { clock, collection, heard, track } = await open(source);
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
    const { clock, collection, heard, spent, track } = await open(source);
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
    const { clock, collection, heard, track } = await open(source);
    track("a");
    collection.ask("a");
    await clock.advance(0);
    expect(heard).toEqual([["a"]]);
  });
});
