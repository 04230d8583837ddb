import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { isConflict, isGone, isNotFound } from "../../../src/kube/client/errors.ts";
import { eventually, status } from "../objects.ts";
import { listening } from "../scripted-server.ts";
import { clientForFile, failure } from "./connected-client.ts";

const kube = clientForFile();

describe("a call", () => {
  test("sends JSON and gives back what was answered", async () => {
    kube.connect({
      server: `${kube.server.url}/prefix/`,
      userAgent: "mooring/1",
      authorize: async () => ({ authorization: "Bearer t" }),
    });
    const answer = kube.client.request({
      method: "PUT",
      path: "/api/v1/x",
      query: { a: "1 2", b: undefined },
      body: { n: 1 },
    });
    const exchange = await kube.server.next();
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
      const answer = kube.client.request({ method: "GET", path: "/" });
      const exchange = await kube.server.next();
      ports.add(exchange.port);
      exchange.json(200, {});
      await answer;
    }
    // The pool may open a second connection if an answer was read but its connection is not yet marked as free.
    expect(ports.size).toBeLessThanOrEqual(2);
  });

  test("keeps to 32 connections however many are under way", async () => {
    const answers = Array.from({ length: 100 }, () => kube.client.request({ method: "GET", path: "/" }));
    const ports = new Set<number | undefined>();
    for (const _ of answers) {
      const exchange = await kube.server.next();
      ports.add(exchange.port);
      exchange.json(200, {});
    }
    await Promise.all(answers);
    expect(ports.size).toBeLessThanOrEqual(32);
  });

  test("fails with what the apiserver's Status says", async () => {
    const failed = failure(kube.client.request({ method: "PATCH", path: "/api/v1/namespaces/a/configmaps/b" }));
    const causes = [{ reason: "FieldValueInvalid", message: "no", field: "data" }];
    (await kube.server.next()).json(409, status(409, "Conflict", "the object has been modified", { causes }));
    const error = await failed;
    expect(error).toMatchObject({ status: 409, reason: "Conflict", causes });
    expect(error.message).toBe("PATCH /api/v1/namespaces/a/configmaps/b: 409 Conflict: the object has been modified");
    expect([isConflict(error), isNotFound(error), isGone(error)]).toEqual([true, false, false]);
  });

  test("fails with a shortened line where something else than a Status is answered", async () => {
    const failed = failure(kube.client.request({ method: "GET", path: "/x" }));
    (await kube.server.next()).text(502, `<html>\n\n<h1>Bad gateway</h1>${"x".repeat(5000)}`);
    const error = await failed;
    expect(error).toMatchObject({ status: 502, reason: "Unknown" });
    expect(error.message).toContain("Bad gateway");
    expect(error.message.length).toBeLessThan(300);
  });

  test("fails with status 0 and the cause when there is no answer", async () => {
    const failed = failure(kube.client.request({ method: "POST", path: "/x", body: { token: "hunter2" } }));
    (await kube.server.next()).reset();
    const error = await failed;
    expect(error).toMatchObject({ status: 0, reason: "Network" });
    expect(error.cause).toBeInstanceOf(Error);
    expect(error.message).not.toContain("hunter2");
  });

  test("fails without quoting an answer that is no JSON", async () => {
    const failed = failure(kube.client.request({ method: "GET", path: "/x" }));
    (await kube.server.next()).text(200, '{"token":"hunter2');
    const error = await failed;
    expect(error.reason).toBe("Unreadable");
    expect(`${error.message} ${error.cause}`).not.toContain("hunter2");
  });

  test("never repeats what a refusal says about a Secret's content", async () => {
    const failed = failure(kube.client.request({ method: "POST", path: "/api/v1/namespaces/a/secrets", body: {} }));
    const said = "data: expected map, got hunter2";
    const causes = [{ field: "data", reason: "FieldValueInvalid", message: said }];
    (await kube.server.next()).json(422, status(422, "Invalid", said, { causes }));
    const error = await failed;
    expect(error.message).toBe("POST /api/v1/namespaces/a/secrets: 422 Invalid: data");
    expect(JSON.stringify(error)).not.toContain("hunter2");
  });

  test("ends at its deadline, whether the headers or the body are missing", async () => {
    const headers = failure(kube.client.request({ method: "GET", path: "/a" }));
    await kube.server.next();
    await kube.clock.advance(29_999);
    const body = failure(kube.client.request({ method: "GET", path: "/b", deadlineMs: 1000 }));
    await (await kube.server.next()).write('{"half":');
    await kube.clock.advance(1);
    expect(await headers).toMatchObject({ status: 0, reason: "Timeout", message: "GET /a: no answer within 30 s" });
    await kube.clock.advance(999);
    expect(await body).toMatchObject({ status: 0, reason: "Timeout" });
  });

  test("ends when the caller aborts, before or while it is under way", async () => {
    const controller = new AbortController();
    const failed = failure(kube.client.request({ method: "GET", path: "/x", signal: controller.signal }));
    const exchange = await kube.server.next();
    controller.abort();
    expect(await failed).toMatchObject({ status: 0, reason: "Aborted" });
    await exchange.closed;
    const late = kube.client.request({ method: "GET", path: "/x", signal: controller.signal });
    expect(await failure(late)).toMatchObject({ status: 0, reason: "Aborted" });
    expect(kube.server.unread).toBe(0);
  });

  test("ends when the caller aborts while the connection is being made, and so does the client", async () => {
    const mute = createServer();
    const sockets = new Set<Socket>();
    mute.on("connection", (socket) => sockets.add(socket.on("error", () => {})));
    kube.connect({ server: (await listening(mute)).replace("http:", "https:") });
    const controller = new AbortController();
    const failed = failure(kube.client.stream({ method: "GET", path: "/x", signal: controller.signal }));
    await once(mute, "connection");
    controller.abort();
    expect(await failed).toMatchObject({ status: 0, reason: "Aborted" });
    await kube.client.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => mute.close(resolve));
  });

  test("goes through a proxy where there is one", async () => {
    kube.connect({ server: "http://apiserver.invalid", proxy: kube.server.url });
    const answer = kube.client.request({ method: "GET", path: "/x" });
    const exchange = await kube.server.next();
    expect([exchange.path, exchange.headers.host]).toEqual(["/x", "apiserver.invalid"]);
    exchange.json(200, { ok: true });
    expect(await answer).toEqual({ ok: true });
  });

  test("is reported with method, host, status and seconds", async () => {
    const seen: unknown[] = [];
    kube.connect({ observe: (call) => seen.push(call) });
    const host = new URL(kube.server.url).host;
    const answer = kube.client.request({ method: "GET", path: "/x" });
    const exchange = await kube.server.next();
    await kube.clock.advance(250);
    exchange.json(200, {});
    await answer;
    const failed = failure(kube.client.request({ method: "GET", path: "/x" }));
    (await kube.server.next()).reset();
    await failed;
    expect(seen).toEqual([
      { method: "GET", host, status: 200, seconds: 0.25 },
      { method: "GET", host, status: "error", seconds: 0 },
    ]);
  });
});

describe("a refusal for now", () => {
  test("429 is tried again for every verb, after the time it asks for", async () => {
    const answer = kube.client.request({ method: "POST", path: "/x", body: {} });
    (await kube.server.next()).json(429, status(429, "TooManyRequests"), { "retry-after": "3" });
    await eventually(() => kube.clock.pending === 2);
    await kube.clock.advance(2999);
    expect(kube.server.unread).toBe(0);
    await kube.clock.advance(1);
    (await kube.server.next()).json(201, { made: true });
    expect(await answer).toEqual({ made: true });
  });

  test("503 with Retry-After is tried again for reads, and not for a POST, which may have been executed", async () => {
    const read = kube.client.request({ method: "GET", path: "/x" });
    (await kube.server.next()).json(503, status(503, "ServiceUnavailable"), { "retry-after": "1" });
    await eventually(() => kube.clock.pending === 2);
    await kube.clock.advance(1000);
    (await kube.server.next()).json(200, 1);
    expect(await read).toBe(1);
    const write = failure(kube.client.request({ method: "POST", path: "/x" }));
    (await kube.server.next()).json(503, status(503, "ServiceUnavailable"), { "retry-after": "1" });
    expect(await write).toMatchObject({ status: 503, retryAfterMs: 1000 });
  });

  test("is not waited for beyond the deadline, nor for ever", async () => {
    const long = failure(kube.client.request({ method: "GET", path: "/x" }));
    (await kube.server.next()).json(429, status(429, "TooManyRequests"), { "retry-after": "60" });
    expect(await long).toMatchObject({ status: 429, retryAfterMs: 60_000 });
    const stubborn = failure(kube.client.request({ method: "GET", path: "/x" }));
    for (let attempt = 1; attempt <= 5; attempt++) {
      (await kube.server.next()).json(429, status(429, "TooManyRequests", "busy", { retryAfterSeconds: 1 }));
      if (attempt === 5) break;
      await eventually(() => kube.clock.pending === 2);
      await kube.clock.advance(1000);
    }
    expect(await stubborn).toMatchObject({ status: 429 });
  });

  test("401 is tried once more with newer credentials", async () => {
    const asked: boolean[] = [];
    kube.connect({
      async authorize(refused) {
        asked.push(refused);
        return { authorization: refused ? "Bearer new" : "Bearer old" };
      },
    });
    const answer = kube.client.request({ method: "POST", path: "/x" });
    (await kube.server.next()).json(401, status(401, "Unauthorized"));
    const again = await kube.server.next();
    expect(again.headers.authorization).toBe("Bearer new");
    again.json(200, {});
    await answer;
    expect(asked).toEqual([false, true]);
  });
});
