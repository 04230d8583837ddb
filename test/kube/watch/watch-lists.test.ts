import { describe, expect, test } from "vitest";
import { eventually, status, widget } from "../objects.ts";
import { bookmark, endOfList, openStage } from "./watch-stage.ts";

describe("the first list", () => {
  test("is streamed, and the watch goes on over the same connection", async () => {
    const { server, clock, store, begin, names } = await openStage();
    const watcher = begin({ fieldSelector: "metadata.name!=x", labelSelector: "a=b" });
    const exchange = await server.next();
    expect(exchange.path).toBe("/apis/example.dev/v1/widgets");
    expect(exchange.query).toEqual({
      watch: "true",
      sendInitialEvents: "true",
      resourceVersionMatch: "NotOlderThan",
      allowWatchBookmarks: "true",
      timeoutSeconds: "600",
      fieldSelector: "metadata.name!=x",
      labelSelector: "a=b",
    });
    let synced = false;
    void watcher.synced.then(() => {
      synced = true;
    });
    await exchange.event("ADDED", widget("a", 3));
    await exchange.event("ADDED", widget("b", 4));
    await clock.advance(0);
    expect([synced, store.size]).toEqual([false, 0]);
    await exchange.event("BOOKMARK", endOfList(9));
    await watcher.synced;
    expect(names()).toEqual(["a", "b"]);
    await exchange.event("ADDED", widget("c", 10));
    await eventually(() => store.size === 3);
    expect(watcher.state).toEqual({ name: "watching", resourceVersion: "10" });
  });

  test("falls back to one unpaged list where the server refuses to stream it", async () => {
    const { server, store, errors, begin } = await openStage();
    const watcher = begin({ namespace: "test" });
    (await server.next()).json(422, status(422, "Invalid", "sendInitialEvents is forbidden"));
    const list = await server.next();
    expect(list.path).toBe("/apis/example.dev/v1/namespaces/test/widgets");
    expect(list.query).toEqual({ resourceVersion: "0" });
    const { apiVersion: _, kind: __, ...bare } = widget("a", 3);
    list.json(200, { kind: "WidgetList", metadata: { resourceVersion: "7" }, items: [bare] });
    await watcher.synced;
    expect(store.get("test/a")).toEqual(widget("a", 3));
    expect((await server.next()).query).toMatchObject({ watch: "true", resourceVersion: "7" });
    expect(errors).toEqual([]);
  });

  test("falls back as well where an old server sends a bookmark that marks no end", async () => {
    const { server, begin } = await openStage();
    begin();
    await (await server.next()).event("BOOKMARK", bookmark(5));
    expect((await server.next()).query).toEqual({ resourceVersion: "0" });
  });

  test("is not complete when the stream ends before its end is marked", async () => {
    const { server, store, begin, afterFailure } = await openStage();
    begin();
    const cut = await server.next();
    await cut.event("ADDED", widget("a", 3));
    cut.end();
    const again = await afterFailure(500);
    expect(store.size).toBe(0);
    expect(again.query.sendInitialEvents).toBe("true");
  });

  test("drops managedFields on arrival", async () => {
    const { store, begin, stream } = await openStage();
    begin();
    const { metadata } = widget("a", 3);
    await stream([{ ...widget("a", 3), metadata: { ...metadata, ...{ managedFields: [{ manager: "x" }] } } }], 4);
    expect(store.get("test/a")?.metadata).not.toHaveProperty("managedFields");
  });

  test("that never came is told to those who wait for it when the watch is stopped", async () => {
    const { server, begin } = await openStage();
    const watcher = begin();
    await server.next();
    await watcher.stop();
    await expect(watcher.synced).rejects.toThrow("stopped before its first list");
  });
});

describe("everything is listed anew", () => {
  test("after a 410, in the answer or in the stream, and what vanished meanwhile is removed", async () => {
    const { clock, store, begin, stream, afterFailure, untilWaiting, names } = await openStage();
    begin();
    const changes: unknown[] = [];
    const first = await stream([widget("kept", 3), widget("gone", 4)], 5);
    store.subscribe(({ key, before, after }) =>
      changes.push([key, before?.metadata.resourceVersion, after?.metadata.resourceVersion]),
    );
    first.reset();
    (await afterFailure(500)).json(410, status(410, "Expired", "too old resource version"));
    await untilWaiting();
    await clock.advance(1000);
    const second = await stream([widget("kept", 3), widget("new", 20)], 21);
    expect(second.query.sendInitialEvents).toBe("true");
    expect(names()).toEqual(["kept", "new"]);
    expect(changes).toEqual([
      ["test/new", undefined, "20"],
      ["test/gone", "4", undefined],
    ]);
    await second.event("ERROR", status(410, "Expired"));
    await untilWaiting();
    await clock.advance(2000);
    await stream([], 30);
    expect(names()).toEqual([]);
  });

  test("by a consistent list where streaming is refused, since an old one could bring deleted objects back", async () => {
    const { server, store, begin, afterFailure } = await openStage();
    begin();
    (await server.next()).json(400, status(400, "BadRequest"));
    (await server.next()).json(200, { metadata: { resourceVersion: "7" }, items: [widget("a", 3)] });
    (await server.next()).json(410, status(410, "Expired"));
    const relist = await afterFailure(500);
    expect(relist.query).toEqual({});
    relist.json(200, { metadata: { resourceVersion: "9" }, items: [] });
    await eventually(() => store.size === 0);
  });

  test("when the server's history was rewound, and then the list alone counts", async () => {
    const { clock, store, begin, stream, untilWaiting } = await openStage();
    begin();
    const first = await stream([widget("a", 300), widget("b", 301)], 400);
    await first.event("BOOKMARK", bookmark(100));
    await untilWaiting();
    await clock.advance(500);
    await stream([widget("a", 90)], 101);
    expect([...store.values()]).toEqual([widget("a", 90)]);
  });
});

describe("a server without this history", () => {
  test("is silent from the start, which leads to a new list as well", async () => {
    const { clock, begin, stream, afterFailure } = await openStage();
    begin();
    const first = await stream([widget("a", 300)], 400);
    first.reset();
    const second = await afterFailure(500);
    await second.write("\n");
    // After the headers, only the timeout for silence runs.
    await eventually(() => clock.pending === 1);
    await clock.advance(180_000);
    await second.closed;
    expect((await afterFailure(1000)).query.sendInitialEvents).toBe("true");
  });
});

test("an answer to an own write that is older than the latest bookmark does not bring a deleted object back", async () => {
  const { store, begin, stream } = await openStage();
  const watcher = begin();
  const first = await stream([], 5);
  await first.event("BOOKMARK", bookmark(50));
  await eventually(() => watcher.state.name === "watching" && watcher.state.resourceVersion === "50");
  store.put(widget("a", 40));
  expect(store.size).toBe(0);
  store.put(widget("a", 51));
  expect(store.size).toBe(1);
});
