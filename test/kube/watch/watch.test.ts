import { describe, expect, test } from "vitest";
import { tellingNews } from "../../../src/kube/watch/watch-failures.ts";
import { fakeClock } from "../../fake-clock.ts";
import { eventually, status, widget } from "../objects.ts";
import { bookmark, endOfList, openStage } from "./watch-stage.ts";

describe("the watch goes on", () => {
  test("from the last bookmark when the server ends the stream in its time", async () => {
    const { server, clock, errors, begin, stream } = await openStage();
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
    const { store, begin, stream, afterFailure, names } = await openStage();
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
    const { errors, begin, stream, afterFailure } = await openStage();
    begin();
    const first = await stream([], 5);
    await first.write('{"type":"ADDED","object":{"secret":"hunter2');
    first.end();
    await afterFailure(500);
    expect(String(errors[0]?.error)).not.toContain("hunter2");
  });

  test("with waits that double up to half a minute, and start over after a connection that lasted", async () => {
    const { clock, begin, stream, afterFailure } = await openStage();
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
    const { errors, begin, stream, afterFailure } = await openStage();
    begin();
    const first = await stream([], 5);
    first.reset();
    (await afterFailure(500)).json(429, status(429, "TooManyRequests"), { "retry-after": "7" });
    await afterFailure(7000);
    expect(errors.at(-1)).toMatchObject({ ms: 7000, error: { status: 429, retryAfterMs: 7000 } });
  });

  test("with fresh credentials after a 401", async () => {
    let token = "old";
    const { server, begin, afterFailure } = await openStage({
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
    const { errors, begin, stream, afterFailure } = await openStage();
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
    const { store, begin, stream, afterFailure } = await openStage({ onListenerError: (error) => thrown.push(error) });
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

  test("with a new list when the server was set back meanwhile", async () => {
    const { server, clock, store, begin, stream, untilWaiting, afterFailure } = await openStage();
    begin();
    const first = await stream([widget("a", 3), widget("b", 4)], 5);
    first.reset();
    await untilWaiting();
    await clock.advance(500);
    const asked = await server.next();
    expect(asked.query).toEqual({ limit: "1" });
    asked.json(200, { metadata: { resourceVersion: "3" }, items: [] });
    const again = await afterFailure(1000);
    expect(again.query).toMatchObject({ sendInitialEvents: "true" });
    await again.event("ADDED", widget("a", 2));
    await again.event("BOOKMARK", endOfList(3));
    await eventually(() => store.size === 1);
    expect(store.get("test/a")?.metadata.resourceVersion).toBe("2");
  });

  test("over a new connection when nothing at all arrives for three minutes", async () => {
    const { clock, errors, begin, stream, afterFailure } = await openStage();
    const watcher = begin();
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

describe("stop", () => {
  test("while connecting ends at once", async () => {
    const { server, begin } = await openStage();
    const watcher = begin();
    const hanging = await server.next();
    await watcher.stop();
    await hanging.closed;
  });

  test("while credentials are being fetched ends at once", async () => {
    const { begin } = await openStage({ authorize: () => new Promise(() => {}) });
    const watcher = begin();
    await watcher.stop();
  });

  test("while waiting and while watching ends at once, and again is harmless", async () => {
    const { server, begin, stream, untilWaiting, names } = await openStage();
    const watcher = begin();
    const first = await stream([widget("a", 3)], 5);
    const stopped = watcher.stop();
    await first.closed;
    await stopped;
    await watcher.stop();
    expect(names()).toEqual(["a"]);
    begin();
    (await server.next()).reset();
    await untilWaiting();
  });
});

test("a failure that lasts is news once in ten minutes, another one at once", () => {
  const clock = fakeClock();
  const news: unknown[] = [];
  const tell = tellingNews(clock, (error, isNews) => {
    if (isNews) news.push(String(error));
  });
  for (let minute = 0; minute < 15; minute++) {
    tell("forbidden");
    clock.spend(60_000);
  }
  expect(news).toEqual(["forbidden", "forbidden"]);
  tell("gone");
  tell("forbidden");
  expect(news.slice(2)).toEqual(["gone", "forbidden"]);
});
