import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { fakeClock } from "../../fake-clock.ts";
import { answer, scriptedServer } from "../scripted-server.ts";
import { transportsForFile } from "./open-transports.ts";

const open = transportsForFile();

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
    const failure = { httpStatus: 422, messages: [{ errorCode: "100", message: `no ${basic} nor ${login.password}` }] };
    await using server = await scriptedServer(answer(422, failure));
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

  test("that expects text returns the answer as it came", async () => {
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
  test("that nobody waits for sits out a short 429 by itself, but only a few times", async () => {
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

/** Moves the clock between real answers until the promise settles. */
async function driveUntilSettled(promise: Promise<unknown>, step: () => Promise<void>): Promise<void> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  promise.then(settle, settle);
  while (!settled) await step();
}
