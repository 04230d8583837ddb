import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isConflict, isGone, isNotFound, KubeError } from "../../../src/kube/client/errors.ts";
import { type ClientOptions, createClient, type KubeClient } from "../../../src/kube/client/transport.ts";
import { type FakeClock, fakeClock } from "../../fake-clock.ts";
import { eventually, status } from "../objects.ts";
import { listening, type ScriptedServer, scriptedServer } from "../scripted-server.ts";

let server: ScriptedServer;
let clock: FakeClock;
let client: KubeClient;

const connect = (options: Partial<ClientOptions> = {}) => createClient({ server: server.url, clock, ...options });

beforeEach(async () => {
  server = await scriptedServer();
  clock = fakeClock();
  client = connect();
});

afterEach(async () => {
  await client.close();
  await server[Symbol.asyncDispose]();
  expect(clock.pending, "timers left behind").toBe(0);
});

/** The error of the call. */
const failure = (call: Promise<unknown>): Promise<KubeError> =>
  call.then(
    () => Promise.reject(new Error("the call succeeded")),
    (error: unknown) => (error instanceof KubeError ? error : Promise.reject(error)),
  );

describe("a call", () => {
  test("sends JSON and gives back what was answered", async () => {
    client = connect({
      server: `${server.url}/prefix/`,
      userAgent: "mooring/1",
      authorize: async () => ({ authorization: "Bearer t" }),
    });
    const answer = client.request({
      method: "PUT",
      path: "/api/v1/x",
      query: { a: "1 2", b: undefined },
      body: { n: 1 },
    });
    const exchange = await server.next();
    expect(exchange).toMatchObject({ method: "PUT", path: "/prefix/api/v1/x", query: { a: "1 2" }, body: '{"n":1}' });
    expect(exchange.headers).toMatchObject({
      accept: "application/json",
      authorization: "Bearer t",
      "content-type": "application/json",
      "user-agent": "mooring/1",
    });
    exchange.json(200, { ok: true });
    expect(await answer).toEqual({ ok: true });
  });

  test("reuses connections instead of opening one for each", async () => {
    const ports = new Set<number | undefined>();
    for (let round = 0; round < 20; round++) {
      const answer = client.request({ method: "GET", path: "/" });
      const exchange = await server.next();
      ports.add(exchange.port);
      exchange.json(200, {});
      await answer;
    }
    // The pool may open a second connection if an answer was read but its connection is not yet marked as free.
    expect(ports.size).toBeLessThanOrEqual(2);
  });

  test("keeps to 32 connections however many are under way", async () => {
    const answers = Array.from({ length: 100 }, () => client.request({ method: "GET", path: "/" }));
    const ports = new Set<number | undefined>();
    for (const _ of answers) {
      const exchange = await server.next();
      ports.add(exchange.port);
      exchange.json(200, {});
    }
    await Promise.all(answers);
    expect(ports.size).toBeLessThanOrEqual(32);
  });

  test("fails with what the apiserver's Status says", async () => {
    const failed = failure(client.request({ method: "PATCH", path: "/api/v1/namespaces/a/configmaps/b" }));
    const causes = [{ reason: "FieldValueInvalid", message: "no", field: "data" }];
    (await server.next()).json(409, status(409, "Conflict", "the object has been modified", { causes }));
    const error = await failed;
    expect(error).toMatchObject({ status: 409, reason: "Conflict", causes });
    expect(error.message).toBe("PATCH /api/v1/namespaces/a/configmaps/b: 409 Conflict: the object has been modified");
    expect([isConflict(error), isNotFound(error), isGone(error)]).toEqual([true, false, false]);
  });

  test("fails with a shortened line where something else than a Status is answered", async () => {
    const failed = failure(client.request({ method: "GET", path: "/x" }));
    (await server.next()).text(502, `<html>\n\n<h1>Bad gateway</h1>${"x".repeat(5000)}`);
    const error = await failed;
    expect(error).toMatchObject({ status: 502, reason: "Unknown" });
    expect(error.message).toContain("Bad gateway");
    expect(error.message.length).toBeLessThan(300);
  });

  test("fails with status 0 and the cause when there is no answer", async () => {
    const failed = failure(client.request({ method: "POST", path: "/x", body: { token: "hunter2" } }));
    (await server.next()).reset();
    const error = await failed;
    expect(error).toMatchObject({ status: 0, reason: "Network" });
    expect(error.cause).toBeInstanceOf(Error);
    expect(error.message).not.toContain("hunter2");
  });

  test("fails without quoting an answer that is no JSON", async () => {
    const failed = failure(client.request({ method: "GET", path: "/x" }));
    (await server.next()).text(200, '{"token":"hunter2');
    const error = await failed;
    expect(error.reason).toBe("Unreadable");
    expect(`${error.message} ${error.cause}`).not.toContain("hunter2");
  });

  test("never repeats what a refusal says about a Secret's content", async () => {
    const failed = failure(client.request({ method: "POST", path: "/api/v1/namespaces/a/secrets", body: {} }));
    const said = "data: expected map, got hunter2";
    const causes = [{ field: "data", reason: "FieldValueInvalid", message: said }];
    (await server.next()).json(422, status(422, "Invalid", said, { causes }));
    const error = await failed;
    expect(error.message).toBe("POST /api/v1/namespaces/a/secrets: 422 Invalid: data");
    expect(JSON.stringify(error)).not.toContain("hunter2");
  });

  test("ends at its deadline, whether the headers or the body are missing", async () => {
    const headers = failure(client.request({ method: "GET", path: "/a" }));
    await server.next();
    await clock.advance(29_999);
    const body = failure(client.request({ method: "GET", path: "/b", deadlineMs: 1000 }));
    await (await server.next()).write('{"half":');
    await clock.advance(1);
    expect(await headers).toMatchObject({ status: 0, reason: "Timeout", message: "GET /a: no answer within 30 s" });
    await clock.advance(999);
    expect(await body).toMatchObject({ status: 0, reason: "Timeout" });
  });

  test("ends when the caller aborts, before or while it is under way", async () => {
    const controller = new AbortController();
    const failed = failure(client.request({ method: "GET", path: "/x", signal: controller.signal }));
    const exchange = await server.next();
    controller.abort();
    expect(await failed).toMatchObject({ status: 0, reason: "Aborted" });
    await exchange.closed;
    const late = client.request({ method: "GET", path: "/x", signal: controller.signal });
    expect(await failure(late)).toMatchObject({ status: 0, reason: "Aborted" });
    expect(server.unread).toBe(0);
  });

  test("ends when the caller aborts while the connection is being made, and so does the client", async () => {
    const mute = createServer();
    const sockets = new Set<Socket>();
    mute.on("connection", (socket) => sockets.add(socket.on("error", () => {})));
    client = connect({ server: (await listening(mute)).replace("http:", "https:") });
    const controller = new AbortController();
    const failed = failure(client.stream({ method: "GET", path: "/x", signal: controller.signal }));
    await once(mute, "connection");
    controller.abort();
    expect(await failed).toMatchObject({ status: 0, reason: "Aborted" });
    await client.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => mute.close(resolve));
  });

  test("goes through a proxy where there is one", async () => {
    client = connect({ server: "http://apiserver.invalid", proxy: server.url });
    const answer = client.request({ method: "GET", path: "/x" });
    const exchange = await server.next();
    expect([exchange.path, exchange.headers.host]).toEqual(["/x", "apiserver.invalid"]);
    exchange.json(200, { ok: true });
    expect(await answer).toEqual({ ok: true });
  });

  test("is reported with method, host, status and seconds", async () => {
    const seen: unknown[] = [];
    client = connect({ observe: (call) => seen.push(call) });
    const host = new URL(server.url).host;
    const answer = client.request({ method: "GET", path: "/x" });
    const exchange = await server.next();
    await clock.advance(250);
    exchange.json(200, {});
    await answer;
    const failed = failure(client.request({ method: "GET", path: "/x" }));
    (await server.next()).reset();
    await failed;
    expect(seen).toEqual([
      { method: "GET", host, status: 200, seconds: 0.25 },
      { method: "GET", host, status: "error", seconds: 0 },
    ]);
  });
});

describe("a refusal for now", () => {
  test("429 is tried again for every verb, after the time it asks for", async () => {
    const answer = client.request({ method: "POST", path: "/x", body: {} });
    (await server.next()).json(429, status(429, "TooManyRequests"), { "retry-after": "3" });
    await eventually(() => clock.pending === 2);
    await clock.advance(2999);
    expect(server.unread).toBe(0);
    await clock.advance(1);
    (await server.next()).json(201, { made: true });
    expect(await answer).toEqual({ made: true });
  });

  test("503 with Retry-After is tried again for reads, and not for a POST, which may have been executed", async () => {
    const read = client.request({ method: "GET", path: "/x" });
    (await server.next()).json(503, status(503, "ServiceUnavailable"), { "retry-after": "1" });
    await eventually(() => clock.pending === 2);
    await clock.advance(1000);
    (await server.next()).json(200, 1);
    expect(await read).toBe(1);
    const write = failure(client.request({ method: "POST", path: "/x" }));
    (await server.next()).json(503, status(503, "ServiceUnavailable"), { "retry-after": "1" });
    expect(await write).toMatchObject({ status: 503, retryAfterMs: 1000 });
  });

  test("is not waited for beyond the deadline, nor for ever", async () => {
    const long = failure(client.request({ method: "GET", path: "/x" }));
    (await server.next()).json(429, status(429, "TooManyRequests"), { "retry-after": "60" });
    expect(await long).toMatchObject({ status: 429, retryAfterMs: 60_000 });
    const stubborn = failure(client.request({ method: "GET", path: "/x" }));
    for (let attempt = 1; attempt <= 5; attempt++) {
      (await server.next()).json(429, status(429, "TooManyRequests", "busy", { retryAfterSeconds: 1 }));
      if (attempt === 5) break;
      await eventually(() => clock.pending === 2);
      await clock.advance(1000);
    }
    expect(await stubborn).toMatchObject({ status: 429 });
  });

  test("401 is tried once more with newer credentials", async () => {
    const asked: boolean[] = [];
    client = connect({
      async authorize(refused) {
        asked.push(refused);
        return { authorization: refused ? "Bearer new" : "Bearer old" };
      },
    });
    const answer = client.request({ method: "POST", path: "/x" });
    (await server.next()).json(401, status(401, "Unauthorized"));
    const again = await server.next();
    expect(again.headers.authorization).toBe("Bearer new");
    again.json(200, {});
    await answer;
    expect(asked).toEqual([false, true]);
  });
});

describe("a stream", () => {
  test("gives its chunks as they come, with no deadline after the headers", async () => {
    const opening = client.stream({ method: "GET", path: "/x" });
    const exchange = await server.next();
    await exchange.write("one");
    const chunks = (await opening)[Symbol.asyncIterator]();
    expect(Buffer.from((await chunks.next()).value).toString()).toBe("one");
    await clock.advance(3_600_000);
    await exchange.write("two");
    expect(Buffer.from((await chunks.next()).value).toString()).toBe("two");
    exchange.end();
    expect((await chunks.next()).done).toBe(true);
  });

  test("needs its headers within the deadline", async () => {
    const failed = failure(client.stream({ method: "GET", path: "/x" }));
    await server.next();
    await clock.advance(30_000);
    expect(await failed).toMatchObject({ status: 0, reason: "Timeout" });
  });

  test("does not take connections from calls", async () => {
    const controller = new AbortController();
    for (let n = 0; n < 64; n++) {
      const opening = client.stream({ method: "GET", path: "/watch", signal: controller.signal });
      await (await server.next()).write(" ");
      await opening;
    }
    const answer = client.request({ method: "GET", path: "/call" });
    (await server.next()).json(200, {});
    await answer;
    controller.abort();
    await eventually(() => server.connections <= 1);
  });

  test("that breaks fails with a KubeError", async () => {
    const opening = client.stream({ method: "GET", path: "/x" });
    const exchange = await server.next();
    await exchange.write("one");
    const chunks = (await opening)[Symbol.asyncIterator]();
    await chunks.next();
    exchange.reset();
    expect(await failure(chunks.next())).toMatchObject({ status: 0, reason: "Network" });
  });

  test("that is refused fails with the Status", async () => {
    const failed = failure(client.stream({ method: "GET", path: "/x" }));
    (await server.next()).json(410, status(410, "Expired"));
    expect(isGone(await failed)).toBe(true);
  });
});
