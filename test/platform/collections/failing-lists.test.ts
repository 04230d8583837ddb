import { describe, expect, test } from "vitest";
import { Forbidden, NotFound, Retry, Unauthorized } from "../../../src/platform/answers/errors.ts";
import { LimitExceeded } from "../../../src/platform/answers/limits.ts";
import { type Item, PartialList } from "../../../src/platform/collections/reading.ts";
import { collectionsForFile } from "./open-collections.ts";
import { item, items, scriptedSource } from "./scripted-source.ts";

const minute = 60_000;
const failed = { call: "GET /servers", status: 503 };
const { open } = collectionsForFile();

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

  test("for want of rights is not repeated soon, but at once by a refresh", async () => {
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

describe("a list whose parent is gone", () => {
  const gone = new NotFound({ ...failed, status: 404 });
  const deletion = { url: "/requests/r1/status", leaving: true };

  test("does not keep the outcome of a deletion from being known", async () => {
    for (const status of ["DONE", "FAILED"] as const) {
      const source = scriptedSource(items(2));
      const { clock, collection, heard } = await open(source);
      source.failing = gone;
      collection.track("m1", { ...deletion, since: clock.now() });
      source.there.delete("m1");
      await clock.advance(20_000);
      expect(collection.read("m1").request).toMatchObject({ status: "BUSY" });
      await clock.advance(30 * minute);
      expect(source.calls.request).toBeLessThan(120);
      source.requests.set(deletion.url, { status, targets: [] });
      await clock.advance(minute);
      expect(collection.read("m1")).toMatchObject({ item: undefined, request: { status } });
      expect(heard.flat()).toContain("m1");
    }
  });

  test("reads nothing of a change without a request, because another 404 proves nothing", async () => {
    const source = scriptedSource(items(2));
    const { clock, collection } = await open(source);
    source.failing = gone;
    collection.track("m0", { since: clock.now(), leaving: true });
    collection.track("m1", { ...deletion, since: clock.now() });
    source.there.clear();
    await clock.advance(10_000);
    expect(source.calls.request).toBeGreaterThan(0);
    expect(source.calls.get).toBe(0);
    expect(collection.read("m0").request).toBeUndefined();
  });
});

describe("a list with more items than the limit", () => {
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

describe("a list with an invalid item", () => {
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
