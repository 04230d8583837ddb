import { inspect } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { PlatformError, Retry, Unauthorized } from "../../../src/platform/answers/errors.ts";
import { createTransport, type Transport, type TransportOptions } from "../../../src/platform/calls/transport.ts";
import { fakeClock } from "../../fake-clock.ts";
import { answer, scriptedServer } from "../scripted-server.ts";

const transports: Transport[] = [];
afterEach(async () => {
  for (const transport of transports.splice(0)) await transport.close();
});

function open(options: Partial<TransportOptions> = {}): Transport {
  const transport = createTransport({ clock: fakeClock(), random: () => 0, ...options });
  transports.push(transport);
  return transport;
}

describe("a call", () => {
  test("carries credential, contract, request id and JSON", async () => {
    await using server = await scriptedServer(answer(200, {}));
    const connection = open({ userAgent: "mooring/1" }).connect("ns/a", { token: " tok\n", contractNumber: 42 });
    await connection.send({
      method: "POST",
      url: `${server.url}/x?depth=1`,
      body: { a: "ü" },
      headers: { "If-Match": "1" },
    });
    const [arrived] = server.arrived;
    expect(arrived).toMatchObject({ method: "POST", url: "/x?depth=1", body: '{"a":"ü"}' });
    expect(arrived?.headers).toMatchObject({
      authorization: "Bearer tok",
      "x-contract-number": "42",
      "content-type": "application/json",
      "user-agent": "mooring/1",
      "if-match": "1",
      "x-request-id": expect.stringMatching(/^[0-9a-f]{8}-1$/),
    });
  });

  test("is sent with the password where it asks for that, of which no error tells anything", async () => {
    const login = { username: "me@example.org", password: "the-secret-password" };
    const basic = Buffer.from(`${login.username}:${login.password}`).toString("base64");
    const told = { httpStatus: 422, messages: [{ errorCode: "100", message: `no ${basic} nor ${login.password}` }] };
    await using server = await scriptedServer(answer(422, told));
    const connection = open().connect("ns/a", { token: "tok", login });
    const asked = { method: "GET", url: `${server.url}/x`, withPassword: true } as const;
    const error = await connection.send(asked).catch((thrown: unknown) => thrown);
    expect(server.arrived[0]?.headers.authorization).toBe(`Basic ${basic}`);
    expect(inspect(error)).not.toContain(login.password);
    expect(inspect(error)).not.toContain(basic);
    connection.setCredentials({ login: { ...login, password: "another" } });
    await connection.send({ method: "GET", url: `${server.url}/x` }).catch(() => {});
    expect(server.arrived[1]?.headers.authorization).toBe("Bearer tok");
  });

  test("asks for text where the answer is none of JSON", async () => {
    await using server = await scriptedServer(answer(200, "$ORIGIN example.org.", { "content-type": "text/plain" }));
    const connection = open().connect("ns/a", { token: "tok" });
    const { body } = await connection.send({ method: "GET", url: server.url, answers: "text" });
    expect(body).toBe("$ORIGIN example.org.");
  });

  test("that asks for the head alone is a read, however large the rest is", async () => {
    await using server = await scriptedServer(answer(200, "", { "content-length": "99999999" }));
    const connection = open().connect("ns/a", { token: "tok" });
    const { headers } = await connection.send({ method: "HEAD", url: server.url });
    expect(server.arrived[0]?.method).toBe("HEAD");
    expect(headers["content-length"]).toBe("99999999");
  });

  test("that object storage refuses is told in its words", async () => {
    const xml = "<?xml version='1.0'?><Error><Code>NoSuchBucketPolicy</Code><Message>none is set</Message></Error>";
    await using server = await scriptedServer(answer(404, xml, { "content-type": "application/xml" }));
    const connection = open().connect("ns/a", { token: "tok" });
    const sending = connection.send({ method: "GET", url: server.url, answers: "text" });
    await expect(sending).rejects.toMatchObject({
      status: 404,
      errorCode: "NoSuchBucketPolicy",
      platformMessage: "none is set",
    });
  });

  test("may bring an authorization of its own", async () => {
    await using server = await scriptedServer(answer(200, {}));
    const connection = open().connect("ns/a", { token: "tok" });
    await connection.send({ method: "GET", url: server.url, headers: { Authorization: "Basic dTpw" } });
    expect(server.arrived[0]?.headers.authorization).toBe("Basic dTpw");
  });

  test("returns the request of the Location header, at the host that was called", async () => {
    const location = "https://elsewhere.example/cloudapi/v6/requests/r-1/status";
    await using server = await scriptedServer(answer(202, { id: "s" }, { location, etag: '"e"' }));
    const connection = open().connect("ns/a", { token: "tok" });
    const reply = await connection.send({ method: "POST", url: `${server.url}/cloudapi/v6/datacenters`, body: {} });
    const url = `${server.url}/cloudapi/v6/requests/r-1/status`;
    expect(reply).toMatchObject({ status: 202, body: { id: "s" }, request: { id: "r-1", url }, etag: '"e"' });
  });

  test("survives an empty answer and a Location that names no request", async () => {
    await using server = await scriptedServer(answer(202, undefined, { location: "http://[" }));
    const reply = await open().connect("ns/a").send({ method: "DELETE", url: server.url });
    expect(reply.body).toBeUndefined();
    expect(reply.request).toBeUndefined();
    expect(server.arrived[0]?.headers.authorization).toBeUndefined();
  });

  test("uses the sockets again, whichever account calls", async () => {
    await using server = await scriptedServer(answer(200, {}));
    const transport = open();
    for (const account of ["a", "b"]) {
      const connection = transport.connect(account, { token: account });
      for (let n = 0; n < 10; n++) await connection.send({ method: "GET", url: server.url });
    }
    // One connection is still being released while the next call needs one.
    expect(server.sockets).toBeLessThanOrEqual(2);
  });

  test("is observed by route, not by id", async () => {
    await using server = await scriptedServer(answer(200, {}));
    const seen: object[] = [];
    const connection = open({ observe: (call) => seen.push(call) }).connect("ns/a");
    await connection.send({
      method: "GET",
      url: `${server.url}/cloudapi/v6/datacenters/${crypto.randomUUID()}/lans/1`,
    });
    const route = "/cloudapi/v6/datacenters/{id}/lans/{id}";
    expect(seen).toEqual([
      { account: "ns/a", product: "core", method: "GET", route, status: 200, seconds: 0, waited: 0 },
    ]);
  });
});

describe("a write", () => {
  test("that waited for its turn until the deadline is never sent", async () => {
    const clock = fakeClock();
    await using server = await scriptedServer(() => {});
    const connection = open({ clock }).connect("ns/a");
    const all = Array.from({ length: 20 }, () => connection.send({ method: "POST", url: server.url }));
    const outcome = Promise.allSettled(all);
    await clock.advance(30_000);
    const sent = (await outcome).map((each) => each.status === "rejected" && each.reason.executed);
    expect(sent.filter((each) => each === "no")).toHaveLength(4);
    expect(server.arrived.length).toBeLessThanOrEqual(16);
  });

  test("that has no time left is not sent", async () => {
    await using server = await scriptedServer(answer(202));
    const connection = open().connect("ns/a");
    for (const deadlineMs of [0, -500]) {
      const sending = connection.send({ method: "POST", url: server.url, deadlineMs });
      await expect(sending).rejects.toMatchObject({ executed: "no", message: expect.stringContaining("no time left") });
    }
    expect(server.arrived).toHaveLength(0);
  });

  test("whose guard objects is not sent", async () => {
    await using server = await scriptedServer(answer(202));
    const guard = () => {
      throw new Error("no longer the leader");
    };
    const connection = open().connect("ns/a");
    await expect(connection.send({ method: "POST", url: server.url, guard })).rejects.toThrow("no longer the leader");
    expect(server.arrived).toHaveLength(0);
  });

  test("is not sent again after 429", async () => {
    await using server = await scriptedServer(answer(429, undefined, { "retry-after": "1" }));
    const sending = open().connect("ns/a").send({ method: "PUT", url: server.url, body: {} });
    await expect(sending).rejects.toMatchObject({ kind: "Retry", executed: "no", afterMs: 1_000 });
    expect(server.arrived).toHaveLength(1);
  });
});

describe("a read", () => {
  test("that keeps nobody waits out a short 429 by itself, but only a few times", async () => {
    const clock = fakeClock();
    await using server = await scriptedServer(answer(429, undefined, { "retry-after": "2" }));
    const connection = open({ clock }).connect("ns/a");
    const sending = connection.send({ method: "GET", url: server.url, patienceMs: 30_000 });
    const outcome = expect(sending).rejects.toMatchObject({ kind: "Retry", status: 429 });
    await driveUntilSettled(sending, () => clock.advance(500));
    await outcome;
    expect(server.arrived).toHaveLength(3);
  });

  test("that people wait for says at once that it was refused", async () => {
    await using server = await scriptedServer(answer(429));
    const sending = open().connect("ns/a").send({ method: "GET", url: server.url, priority: "people" });
    await expect(sending).rejects.toMatchObject({ status: 429 });
    expect(server.arrived).toHaveLength(1);
  });
});

test.each(["GET", "POST"] as const)(
  "a %s that the platform has asked to wait for days is refused at once, and told to come back in five minutes",
  async (method) => {
    const clock = fakeClock();
    await using server = await scriptedServer(answer(429, undefined, { "retry-after": "999999" }));
    const connection = open({ clock }).connect("ns/a");
    await expect(connection.send({ method, url: server.url })).rejects.toMatchObject({ afterMs: 300_000 });
    await clock.advance(100_000);
    const refused = { kind: "Retry", status: 429, executed: "no", afterMs: 200_000 };
    await expect(connection.send({ method, url: server.url })).rejects.toMatchObject(refused);
    expect(server.arrived).toHaveLength(1);
  },
);

test("closing the transport ends what is under way or waits for its turn, on every connection", async () => {
  await using server = await scriptedServer(() => {});
  const transport = open();
  const calls = ["ns/a", "ns/b"].flatMap((id) => {
    const connection = transport.connect(id, { token: id });
    return Array.from({ length: 20 }, () => connection.send({ method: "GET", url: server.url }));
  });
  const ended = Promise.allSettled(calls);
  await transport.close();
  expect((await ended).filter(({ status }) => status === "rejected")).toHaveLength(40);
});

describe("a connection", () => {
  test("uses new credentials at once, with an unspoilt pace", async () => {
    await using server = await scriptedServer(answer(429, undefined, { "retry-after": "3600" }));
    const connection = open().connect("ns/a", { token: "old" });
    await expect(connection.send({ method: "POST", url: server.url })).rejects.toBeInstanceOf(Retry);
    server.script = answer(200, {});
    connection.setCredentials({ token: "new", contractNumber: 7 });
    await connection.send({ method: "POST", url: server.url });
    expect(server.arrived[1]?.headers.authorization).toBe("Bearer new");
    expect(connection.contractNumber).toBe(7);
  });

  test("shares its pace with every connection that has the same token, on the same host", async () => {
    const clock = fakeClock();
    await using server = await scriptedServer(answer(429, undefined, { "retry-after": "60" }));
    const transport = open({ clock });
    const [one, two] = [transport.connect("ns/a", { token: "t" }), transport.connect("ns/b", { token: "t" })];
    await expect(one.send({ method: "POST", url: server.url })).rejects.toBeInstanceOf(Retry);
    two.setCredentials({ token: "t", contractNumber: 5 });
    const refused = { status: 429, executed: "no" };
    await expect(two.send({ method: "POST", url: server.url })).rejects.toMatchObject(refused);
    expect(server.arrived).toHaveLength(1);
    await one.close();
    await two.close();
    server.script = answer(200);
    await transport.connect("ns/c", { token: "t" }).send({ method: "POST", url: server.url });
  });

  test("aborts what is under way and what comes later when it is closed", async () => {
    await using server = await scriptedServer(() => {});
    const connection = open().connect("ns/a");
    const sending = connection.send({ method: "POST", url: server.url });
    const outcome = expect(sending).rejects.toMatchObject({ executed: "unknown" });
    await server.arrival(1);
    await connection.close();
    await outcome;
    await expect(connection.send({ method: "POST", url: server.url })).rejects.toMatchObject({ executed: "no" });
    expect(server.arrived).toHaveLength(1);
  });

  test("gives up when the caller does, and says what that leaves open", async () => {
    await using server = await scriptedServer(() => {});
    const connection = open().connect("ns/a");
    const controller = new AbortController();
    const sending = connection.send({ method: "PATCH", url: server.url, signal: controller.signal });
    const outcome = expect(sending).rejects.toMatchObject({ kind: "Retry", executed: "unknown" });
    await server.arrival(1);
    controller.abort();
    await outcome;
  });

  test("does not send a token that would break out of its header", async () => {
    const token = "abc\r\nX-Evil: 1";
    const sending = open().connect("ns/a", { token }).send({ method: "GET", url: "http://127.0.0.1:9/" });
    const error = await sending.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Unauthorized);
    expect(inspect(error, { depth: 9 })).not.toContain("Evil");
  });
});

test("every write that was sent is one line for the one on call; reads are for debugging", async () => {
  const lines: unknown[] = [];
  const at = (level: string) => (fields: object, message: string) => lines.push({ level, message, ...fields });
  const log = { debug: at("debug"), info: at("info"), warn: at("warn") };
  const location = "/cloudapi/v6/requests/r-1/status";
  await using server = await scriptedServer(answer(202, { id: "s" }, { location }));
  const connection = open({ log }).connect("ns/a", { token: "tok" });
  const url = `${server.url}/cloudapi/v6/datacenters`;
  const object = "Datacenter/shop/a";
  await connection.send({ method: "POST", url: `${url}?depth=1`, body: {}, object });
  server.script = answer(422, { messages: [{ message: "no" }] });
  await connection.send({ method: "POST", url, body: {}, object }).catch(() => {});
  const guard = () => {
    throw new Error("not the leader");
  };
  await connection.send({ method: "POST", url, body: {}, object, guard }).catch(() => {});
  server.script = answer(200, {});
  await connection.send({ method: "GET", url });
  const call = { account: "ns/a", path: "/cloudapi/v6/datacenters" };
  const write = { level: "info", message: "platform write", object, method: "POST", ...call };
  expect(lines).toEqual([
    expect.objectContaining({ ...write, status: 202, requestId: expect.stringMatching(/-1$/), platformRequest: "r-1" }),
    expect.objectContaining({ ...write, status: 422, requestId: expect.stringMatching(/-2$/) }),
    expect.objectContaining({ level: "debug", message: "platform read", method: "GET", status: 200, ...call }),
  ]);
});

test("no secret reaches a log line, an error or an observer", async () => {
  const canary = "canary-4711-secret";
  const token = `${canary}a.${canary}b.${canary}c`;
  const lines: unknown[] = [];
  const keep = (...line: unknown[]) => lines.push(line);
  const log = { debug: keep, info: keep, warn: keep };
  const transport = open({ log, observe: (call) => lines.push(call) });
  const connection = transport.connect("ns/a", { token });
  const answers = [
    answer(200, { key: canary }),
    answer(422, { messages: [{ errorCode: "1", message: `bad token ${token} or ${canary}b` }] }),
    answer(401, `<html>${token}</html>`),
    answer(500, { echoed: canary }),
  ];
  await using server = await scriptedServer(() => {});
  for (const script of answers) {
    server.script = script;
    const url = `${server.url}/x?password=${canary}`;
    await connection.send({ method: "POST", url, body: { password: canary } }).catch((error: unknown) => {
      expect(error).toBeInstanceOf(PlatformError);
      lines.push(error, error instanceof Error ? error.stack : "");
    });
  }
  expect(lines.length).toBeGreaterThan(8);
  expect(inspect(lines, { depth: 12 })).not.toContain(canary);
});

/** Moves the clock between real answers until the promise settles. */
async function driveUntilSettled(promise: Promise<unknown>, step: () => Promise<void>): Promise<void> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  promise.then(settle, settle);
  while (!settled) await step();
}
