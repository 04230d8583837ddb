import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { KubeObject } from "../../src/kube/resource.ts";
import { createStore, type Store } from "../../src/kube/store.ts";
import { createClient, type KubeClient } from "../../src/kube/transport.ts";
import { type Watcher, type WatchOptions, watch } from "../../src/kube/watch.ts";
import { type FakeClock, fakeClock } from "../fake-clock.ts";
import { eventually, status, WIDGETS, widget } from "./objects.ts";
import { type Exchange, type ScriptedServer, scriptedServer } from "./scripted-server.ts";

let server: ScriptedServer;
let clock: FakeClock;
let client: KubeClient;
let store: Store<KubeObject>;
let watcher: Watcher;
let errors: { error: unknown; ms: number }[];

beforeEach(async () => {
  server = await scriptedServer();
  clock = fakeClock();
  client = createClient({ server: server.url, clock });
  store = createStore();
  errors = [];
});

afterEach(async () => {
  await watcher.stop();
  expect(watcher.state).toEqual({ name: "stopped" });
  await client.close();
  await server[Symbol.asyncDispose]();
  expect(clock.pending, "timers left behind").toBe(0);
});

function begin(options: Partial<WatchOptions<KubeObject>> = {}): void {
  watcher = watch({
    client,
    resource: WIDGETS,
    store,
    clock,
    random: () => 1,
    onError: (error, ms) => errors.push({ error, ms }),
    ...options,
  });
}

const names = () => [...store.values()].map(({ metadata }) => metadata.name).sort();

const bookmark = (resourceVersion: number, annotations?: Record<string, string>) => ({
  apiVersion: "example.dev/v1",
  kind: "Widget",
  metadata: { resourceVersion: String(resourceVersion), ...(annotations && { annotations }) },
});

const endOfList = (resourceVersion: number) => bookmark(resourceVersion, { "k8s.io/initial-events-end": "true" });

/** Answers a streaming list and leaves the connection open. */
async function stream(objects: KubeObject[], resourceVersion: number): Promise<Exchange> {
  const exchange = await server.next();
  for (const object of objects) await exchange.event("ADDED", object);
  await exchange.event("BOOKMARK", endOfList(resourceVersion));
  await eventually(() => watcher.state.name === "watching");
  return exchange;
}

/** The watch failed, waits, and asks again. */
async function afterFailure(ms: number): Promise<Exchange> {
  await eventually(() => watcher.state.name === "waiting");
  await clock.advance(ms - 1);
  expect(server.unread).toBe(0);
  await clock.advance(1);
  return server.next();
}

describe("the first list", () => {
  test("is streamed, and the watch goes on over the same connection", async () => {
    begin({ fieldSelector: "metadata.name!=x", labelSelector: "a=b" });
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
    begin({ namespace: "test" });
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
    begin();
    await (await server.next()).event("BOOKMARK", bookmark(5));
    expect((await server.next()).query).toEqual({ resourceVersion: "0" });
  });

  test("is not complete when the stream ends before its end is marked", async () => {
    begin();
    const cut = await server.next();
    await cut.event("ADDED", widget("a", 3));
    cut.end();
    const again = await afterFailure(500);
    expect(store.size).toBe(0);
    expect(again.query.sendInitialEvents).toBe("true");
  });

  test("drops managedFields on arrival", async () => {
    begin();
    const { metadata } = widget("a", 3);
    await stream([{ ...widget("a", 3), metadata: { ...metadata, ...{ managedFields: [{ manager: "x" }] } } }], 4);
    expect(store.get("test/a")?.metadata).not.toHaveProperty("managedFields");
  });

  test("that never came is told to those who wait for it when the watch is stopped", async () => {
    begin();
    await server.next();
    await watcher.stop();
    await expect(watcher.synced).rejects.toThrow("stopped before its first list");
  });
});

describe("the watch goes on", () => {
  test("from the last bookmark when the server ends the stream in its time", async () => {
    begin();
    const first = await stream([widget("a", 3)], 5);
    await first.event("BOOKMARK", bookmark(42));
    await clock.advance(300_000 / 2);
    first.end();
    const second = await server.next();
    expect(second.query).toMatchObject({ watch: "true", allowWatchBookmarks: "true", resourceVersion: "42" });
    expect(errors).toEqual([]);
  });

  test("after a reset, from the last event, while the store keeps serving", async () => {
    begin();
    const first = await stream([widget("a", 3)], 5);
    await first.event("MODIFIED", widget("a", 8));
    await eventually(() => store.get("test/a")?.metadata.resourceVersion === "8");
    first.reset();
    const second = await afterFailure(500);
    expect(names()).toEqual(["a"]);
    expect(second.query.resourceVersion).toBe("8");
  });

  test("after a stream that was cut inside a line", async () => {
    begin();
    const first = await stream([], 5);
    await first.write('{"type":"ADDED","object":{"secret":"hunter2');
    first.end();
    await afterFailure(500);
    expect(String(errors[0]?.error)).not.toContain("hunter2");
  });

  test("with waits that double up to half a minute, and start over after a connection that lasted", async () => {
    begin();
    const first = await stream([], 5);
    first.reset();
    for (const ms of [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
      (await afterFailure(ms)).json(500, status(500, "InternalError", "etcd is on holiday"));
    }
    const good = await afterFailure(30_000);
    await good.event("BOOKMARK", bookmark(6));
    await clock.advance(5000);
    good.reset();
    await afterFailure(500);
  });

  test("not before the time a 429 asks for", async () => {
    begin();
    const first = await stream([], 5);
    first.reset();
    (await afterFailure(500)).json(429, status(429, "TooManyRequests"), { "retry-after": "7" });
    await afterFailure(7000);
    expect(errors.at(-1)).toMatchObject({ ms: 7000, error: { status: 429, retryAfterMs: 7000 } });
  });

  test("with fresh credentials after a 401", async () => {
    let token = "old";
    await client.close();
    client = createClient({
      server: server.url,
      clock,
      async authorize(refused) {
        if (refused) token = "new";
        return { authorization: `Bearer ${token}` };
      },
    });
    begin();
    (await server.next()).json(401, status(401, "Unauthorized"));
    const again = await server.next();
    expect(again.headers.authorization).toBe("Bearer new");
    again.json(401, status(401, "Unauthorized"));
    await afterFailure(500);
  });

  test("after an in-stream ERROR event, where it was", async () => {
    begin();
    const first = await stream([], 5);
    await first.event("ERROR", status(500, "InternalError", "the cache is being rebuilt"));
    const second = await afterFailure(500);
    expect(second.query.resourceVersion).toBe("5");
    expect(errors[0]?.error).toMatchObject({ status: 500, message: expect.stringContaining("being rebuilt") });
  });

  test("when a listener throws, and the other listeners hear all the same", async () => {
    const thrown: unknown[] = [];
    const heard: string[] = [];
    store = createStore({ onListenerError: (error) => thrown.push(error) });
    store.subscribe(() => {
      throw new Error("listener");
    });
    store.subscribe(({ key }) => heard.push(key));
    begin({
      onError() {
        throw new Error("reporter");
      },
    });
    const first = await stream([widget("a", 3)], 5);
    await first.event("ADDED", widget("b", 6));
    await eventually(() => heard.length === 2);
    first.reset();
    await (await afterFailure(500)).event("ADDED", widget("c", 7));
    await eventually(() => heard.length === 3);
    expect(heard).toEqual(["test/a", "test/b", "test/c"]);
    expect(thrown).toHaveLength(3);
  });

  test("over a new connection when nothing at all arrives for three minutes", async () => {
    begin();
    const first = await stream([], 5);
    await clock.advance(100_000);
    await first.event("BOOKMARK", bookmark(6));
    await eventually(() => watcher.state.name === "watching" && watcher.state.resourceVersion === "6");
    await clock.advance(179_999);
    expect(watcher.state.name).toBe("watching");
    await clock.advance(1);
    await first.closed;
    const second = await afterFailure(500);
    expect(second.query.resourceVersion).toBe("6");
    expect(errors[0]?.error).toMatchObject({ reason: "Silent" });
  });
});

describe("everything is listed anew", () => {
  test("after a 410, in the answer or in the stream, and what vanished meanwhile is removed", async () => {
    begin();
    const changes: unknown[] = [];
    const first = await stream([widget("kept", 3), widget("gone", 4)], 5);
    store.subscribe(({ key, before, after }) =>
      changes.push([key, before?.metadata.resourceVersion, after?.metadata.resourceVersion]),
    );
    first.reset();
    (await afterFailure(500)).json(410, status(410, "Expired", "too old resource version"));
    await eventually(() => watcher.state.name === "waiting");
    await clock.advance(1000);
    const second = await stream([widget("kept", 3), widget("new", 20)], 21);
    expect(second.query.sendInitialEvents).toBe("true");
    expect(names()).toEqual(["kept", "new"]);
    expect(changes).toEqual([
      ["test/new", undefined, "20"],
      ["test/gone", "4", undefined],
    ]);
    await second.event("ERROR", status(410, "Expired"));
    await eventually(() => watcher.state.name === "waiting");
    await clock.advance(2000);
    await stream([], 30);
    expect(names()).toEqual([]);
  });

  test("by a consistent list where streaming is refused, since an old one could bring deleted objects back", async () => {
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
    begin();
    const first = await stream([widget("a", 300), widget("b", 301)], 400);
    await first.event("BOOKMARK", bookmark(100));
    await eventually(() => watcher.state.name === "waiting");
    await clock.advance(500);
    await stream([widget("a", 90)], 101);
    expect([...store.values()]).toEqual([widget("a", 90)]);
  });
});

test("an answer to an own write that is older than the latest bookmark does not bring a deleted object back", async () => {
  begin();
  const first = await stream([], 5);
  await first.event("BOOKMARK", bookmark(50));
  await eventually(() => watcher.state.name === "watching" && watcher.state.resourceVersion === "50");
  store.put(widget("a", 40));
  expect(store.size).toBe(0);
  store.put(widget("a", 51));
  expect(store.size).toBe(1);
});

describe("a server without this history", () => {
  test("is silent from the start, which leads to a new list as well", async () => {
    begin();
    const first = await stream([widget("a", 300)], 400);
    first.reset();
    const second = await afterFailure(500);
    await second.write("\n");
    // Once the headers are there, only the watch for silence runs.
    await eventually(() => clock.pending === 1);
    await clock.advance(180_000);
    await second.closed;
    expect((await afterFailure(1000)).query.sendInitialEvents).toBe("true");
  });
});

describe("stop", () => {
  test("while connecting ends at once", async () => {
    begin();
    const hanging = await server.next();
    await watcher.stop();
    await hanging.closed;
  });

  test("while credentials are being fetched ends at once", async () => {
    await client.close();
    client = createClient({ server: server.url, clock, authorize: () => new Promise(() => {}) });
    begin();
    await watcher.stop();
  });

  test("while waiting and while watching ends at once, and again is harmless", async () => {
    begin();
    const first = await stream([widget("a", 3)], 5);
    const stopped = watcher.stop();
    await first.closed;
    await stopped;
    await watcher.stop();
    expect(names()).toEqual(["a"]);
    begin();
    (await server.next()).reset();
    await eventually(() => watcher.state.name === "waiting");
  });
});
