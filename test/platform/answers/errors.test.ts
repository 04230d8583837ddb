import { createServer, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { type Executed, PlatformError, Terminal } from "../../../src/platform/answers/errors.ts";
import { type Connection, createTransport, type PlatformCall } from "../../../src/platform/calls/transport.ts";
import { type FakeClock, fakeClock } from "../../fake-clock.ts";
import { answer, type Script, scriptedServer } from "../scripted-server.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function connect(clock: FakeClock = fakeClock()): Connection {
  const transport = createTransport({ clock, random: () => 0 });
  closing.push(() => transport.close());
  return transport.connect("default/account", { token: "token" });
}

async function failure(sending: Promise<unknown>): Promise<PlatformError> {
  const error = await sending.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof PlatformError) return error;
  throw new Error("expected a PlatformError", { cause: error });
}

async function failing(script: Script, call: Partial<PlatformCall> = {}): Promise<PlatformError> {
  await using server = await scriptedServer(script);
  return await failure(
    connect().send({ method: "POST", url: `${server.url}/cloudapi/v6/datacenters?secret=1`, body: {}, ...call }),
  );
}

const said = (message: string, errorCode = "100") => ({ httpStatus: 0, messages: [{ errorCode, message }] });

describe("the error of an answer", () => {
  const table: [number, unknown, Record<string, string>, PlatformError["kind"], Executed, object][] = [
    [301, "", { location: "https://elsewhere.example/" }, "Retry", "unknown", {}],
    [303, said("see other"), {}, "Retry", "unknown", {}],
    [400, said("broken"), {}, "Terminal", "no", { quota: false, busy: false }],
    [400, "<html>bad request</html>", {}, "Retry", "unknown", {}],
    [401, said("who are you", "315"), {}, "Unauthorized", "no", { errorCode: "315" }],
    [401, "<html>log in</html>", {}, "Retry", "unknown", {}],
    [401, { message: "Unauthorized" }, {}, "Retry", "unknown", {}],
    [403, said("delete-protected", "451"), {}, "Forbidden", "no", {}],
    [403, "<html>blocked</html>", {}, "Retry", "unknown", {}],
    [403, "", {}, "Retry", "unknown", {}],
    [404, said("Resource does not exist", "309"), {}, "NotFound", "no", {}],
    [404, "<html>no such page</html>", {}, "Retry", "unknown", { platformMessage: undefined }],
    [404, { message: "no Route matched with those values" }, {}, "Retry", "unknown", {}],
    [404, "", {}, "Retry", "unknown", {}],
    [405, "", {}, "Retry", "unknown", {}],
    [405, said("no"), {}, "Terminal", "no", {}],
    [408, "", {}, "Retry", "unknown", {}],
    [409, said("name is taken"), {}, "Terminal", "no", { busy: false }],
    [409, said("the pipeline is locked"), {}, "Terminal", "no", { busy: true }],
    [413, "<html>too large</html>", {}, "Retry", "unknown", {}],
    [413, said("too large"), {}, "Terminal", "no", {}],
    [415, said("no"), {}, "Terminal", "no", {}],
    [422, said("[(root).properties.name] required"), {}, "Terminal", "no", { quota: false, busy: false }],
    [422, said("Resource is currently BUSY", "200"), {}, "Terminal", "no", { busy: true, quota: false }],
    [422, said("contract limit exceeded for cores", "200"), {}, "Terminal", "no", { quota: true, busy: false }],
    [423, said("locked"), {}, "Terminal", "no", { busy: true }],
    [423, "", {}, "Retry", "unknown", {}],
    [425, "", {}, "Retry", "no", {}],
    [431, "", {}, "Retry", "unknown", {}],
    [499, "", {}, "Retry", "unknown", {}],
    [429, said("slow down", "420"), { "retry-after": "3" }, "Retry", "no", { afterMs: 3_000 }],
    [429, "", {}, "Retry", "no", { afterMs: undefined }],
    [429, "", { "retry-after": "soon" }, "Retry", "no", { afterMs: undefined }],
    [
      429,
      "",
      { date: "Thu, 01 Jan 2026 10:00:00 GMT", "retry-after": "Thu, 01 Jan 2026 10:00:05 GMT" },
      "Retry",
      "no",
      { afterMs: 5_000 },
    ],
    [500, said("oops"), {}, "Retry", "unknown", { platformMessage: "oops" }],
    [501, "", {}, "Retry", "unknown", {}],
    [501, said("no"), {}, "Terminal", "no", {}],
    [502, "<html><body>Bad Gateway</body></html>", {}, "Retry", "unknown", { platformMessage: undefined }],
    [503, said("later"), { "retry-after": "2" }, "Retry", "unknown", { afterMs: 2_000 }],
    [504, "", {}, "Retry", "unknown", {}],
    [202, "{not json", {}, "Retry", "unknown", { status: 202 }],
  ];

  test.each(table)("%i %j %j", async (status, body, headers, kind, executed, fields) => {
    const error = await failing(answer(status, body, headers));
    expect(error).toMatchObject({ kind, status, executed, call: "POST /cloudapi/v6/datacenters", ...fields });
    expect(error.message).not.toContain("secret");
    expect(error.message).toContain(String(status));
  });

  test("a read that fails has never had an effect", async () => {
    const error = await failing(answer(500), { method: "GET" });
    expect(error).toMatchObject({ kind: "Retry", executed: "no" });
  });

  test.each([
    [401, "Unauthorized"],
    [403, "Forbidden"],
    [413, "Terminal"],
    [501, "Terminal"],
  ])("a read that is answered %i with a page is refused", async (status, kind) => {
    const error = await failing(answer(status, "<html>no</html>"), { method: "GET" });
    expect(error).toMatchObject({ kind, status, executed: "no" });
  });

  test.each([
    ["shows that a resource does not exist, with the platform's error body", said("none", "309"), "NotFound"],
    ["shows nothing with a page", "<html>no such page</html>", "Retry"],
    ["shows nothing with the error of a gateway", { message: "no Route matched with those values" }, "Retry"],
    ["shows nothing without a body", "", "Retry"],
  ])("404 to a read %s", async (_, body, kind) => {
    const error = await failing(answer(404, body), { method: "GET" });
    expect(error).toMatchObject({ kind, status: 404, executed: "no" });
  });

  test("several messages are joined, strange ones survived, long ones shortened", async () => {
    const messages = [{ message: "a".repeat(700) }, { errorCode: 7, message: "b".repeat(700) }, {}];
    const error = await failing(answer(422, { messages }));
    expect(error.platformMessage).toHaveLength(1024);
    expect(error.errorCode).toBe("7");
    const odd = await failing(answer(422, { messages: "none" }));
    expect(odd.platformMessage).toBeUndefined();
  });
});

describe("the error of a missing answer", () => {
  test("a refused connection executed nothing", async () => {
    const port = await freePort();
    const error = await failure(connect().send({ method: "POST", url: `http://127.0.0.1:${port}/x` }));
    expect(error).toMatchObject({ kind: "Retry", status: 0, executed: "no" });
    expect(error.message).toBe(`POST /x got no answer: the endpoint http://127.0.0.1:${port} cannot be reached`);
  });

  test("a host without an address executed nothing", async () => {
    const error = await failure(connect().send({ method: "POST", url: "http://nowhere.invalid/x" }));
    expect(error).toMatchObject({ kind: "Retry", status: 0, executed: "no" });
    expect(error.message).toBe("POST /x got no answer: the endpoint http://nowhere.invalid cannot be reached");
  });

  test.each(["GET", "POST"] as const)("404 to %s of a regional service itself names the region", async (method) => {
    for (const [body, executed] of [
      [said("Resource does not exist"), "no"],
      ["<html>no such page</html>", method === "GET" ? "no" : "unknown"],
    ] as const) {
      await using server = await scriptedServer(answer(404, body));
      const { url } = server;
      const call = { method, url: `${url}/de-tlx/pipelines`, product: "monitoring" };
      const error = await failure(connect().send(call));
      expect(error).toMatchObject({ kind: "Retry", status: 404, executed });
      expect(error.message).toBe(
        `${method} /de-tlx/pipelines answered 404: ${url} does not serve this: check spec.region of the Account`,
      );
    }
  });

  test("404 to a path with an id is about the resource, in a regional service as well", async () => {
    await using server = await scriptedServer(answer(404, said("gone")));
    const { url } = server;
    const path = "/clusters/4f3c2b1a-0000-4000-8000-000000000000/topics";
    const error = await failure(connect().send({ method: "GET", url: url + path, product: "streaming" }));
    expect(error).toMatchObject({ kind: "NotFound", platformMessage: "gone" });
    const core = await failure(connect().send({ method: "GET", url: `${url}/datacenters` }));
    expect(core).toMatchObject({ kind: "NotFound", platformMessage: "gone" });
  });

  test("a regional host that cannot be reached may be that of a wrong region", async () => {
    const url = "http://logging.de-tlx.invalid/pipelines";
    const error = await failure(connect().send({ method: "GET", url, product: "logging" }));
    expect(error.message).toBe(
      "GET /pipelines got no answer: the endpoint http://logging.de-tlx.invalid cannot be reached: check spec.region of the Account, and the network",
    );
  });

  test("an endpoint that does not speak HTTP is reported like a broken connection", async () => {
    const mail = createServer((socket) =>
      socket
        .on("error", () => {})
        .resume()
        .end("220 mail.example ESMTP\r\n"),
    );
    const port = await listen(mail);
    const error = await failure(connect().send({ method: "POST", url: `http://127.0.0.1:${port}/x` }));
    expect(error.message).toBe("POST /x got no answer: the connection broke off before the answer was complete");
    await new Promise((resolve) => mail.close(resolve));
  });

  test("an endpoint that is no web address is refused as such", async () => {
    for (const url of ["no url", "ftp://host/x"]) {
      expect(await failure(connect().send({ method: "GET", url }))).toBeInstanceOf(Terminal);
    }
  });

  test("a deadline that ends while the connection is being made executed nothing", async () => {
    const clock = fakeClock();
    // A TLS handshake that is never answered.
    const silent = createServer();
    const port = await listen(silent);
    const connected = new Promise<Socket>((resolve) => silent.once("connection", resolve));
    const sending = failure(
      connect(clock).send({ method: "POST", url: `https://127.0.0.1:${port}/x`, deadlineMs: 5_000 }),
    );
    const socket = await connected;
    await clock.advance(5_000);
    expect(await sending).toMatchObject({ kind: "Retry", status: 0, executed: "no" });
    socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
  });

  test("a deadline that ends while the platform thinks leaves the outcome open", async () => {
    const clock = fakeClock();
    await using server = await scriptedServer(() => {});
    const sending = failure(connect(clock).send({ method: "POST", url: `${server.url}/x`, body: { a: 1 } }));
    await server.arrival(1);
    await clock.advance(29_999);
    expect(clock.pending).toBe(1);
    await clock.advance(1);
    expect(await sending).toMatchObject({ kind: "Retry", status: 0, executed: "unknown" });
    expect((await sending).message).toContain("30 s");
  });

  test("the deadline covers the body of the answer as well", async () => {
    const clock = fakeClock();
    await using server = await scriptedServer((_, response) => {
      response.writeHead(202, { "content-type": "application/json" });
      response.write('{"id":');
    });
    const sending = failure(connect(clock).send({ method: "POST", url: `${server.url}/x` }));
    await server.arrival(1);
    await clock.advance(30_000);
    expect(await sending).toMatchObject({ kind: "Retry", status: 0, executed: "unknown" });
  });

  test("a reset after the request was sent leaves the outcome open, and a write is never sent again", async () => {
    await using server = await scriptedServer((_, __, request) => request.socket.resetAndDestroy());
    const error = await failure(connect().send({ method: "POST", url: `${server.url}/x`, body: {} }));
    expect(error).toMatchObject({ kind: "Retry", status: 0, executed: "unknown" });
    expect(server.arrived).toHaveLength(1);
  });

  test("a GET that makes something is sent once, as any write is", async () => {
    await using server = await scriptedServer((_, __, request) => request.socket.resetAndDestroy());
    const error = await failure(connect().send({ method: "GET", url: `${server.url}/generate`, makes: true }));
    expect(error).toMatchObject({ kind: "Retry", status: 0, executed: "unknown" });
    expect(server.arrived).toHaveLength(1);
  });

  test("an answer that breaks off leaves the outcome open", async () => {
    await using server = await scriptedServer((_, response, request) => {
      response.writeHead(202, { "content-length": "100" });
      response.write("{", () => request.socket.destroy());
    });
    const error = await failure(connect().send({ method: "DELETE", url: `${server.url}/x` }));
    expect(error).toMatchObject({ kind: "Retry", status: 0, executed: "unknown" });
  });

  test("a read is sent a second time after a reset, and not a third", async () => {
    await using server = await scriptedServer((_, __, request) => request.socket.resetAndDestroy());
    const connection = connect();
    expect(await failure(connection.send({ method: "GET", url: `${server.url}/x` }))).toMatchObject({ executed: "no" });
    expect(server.arrived).toHaveLength(2);
    server.script = (arrived, response, request) =>
      server.arrived.length === 3
        ? request.socket.resetAndDestroy()
        : answer(200, { ok: true })(arrived, response, request);
    expect((await connection.send({ method: "GET", url: `${server.url}/x` })).body).toEqual({ ok: true });
  });
});

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
