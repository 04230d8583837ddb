import { afterEach, describe, expect, test } from "vitest";
import { createTransport, type Transport } from "../../../src/platform/calls/transport.ts";
import { coreCollection, findRequests } from "../../../src/platform/products/core.ts";
import { type FakeClock, fakeClock } from "../../fake-clock.ts";
import { answer, scriptedServer } from "../scripted-server.ts";

const transports: Transport[] = [];
afterEach(async () => {
  for (const transport of transports.splice(0)) await transport.close();
});

function connect(clock: FakeClock) {
  const transport = createTransport({ clock, random: () => 0 });
  transports.push(transport);
  return transport.connect("ns/account", { token: "token" });
}

const never = new AbortController().signal;

describe("an endpoint that takes its time", () => {
  test("and drips its answer byte by byte is left at the deadline", async () => {
    const clock = fakeClock();
    let dripped = 0;
    await using server = await scriptedServer(async (_, response) => {
      response.writeHead(200);
      for (; !response.destroyed && dripped < 100; dripped++) {
        response.write(" ");
        await clock.advance(1_000);
      }
      response.end("{}");
    });
    const sending = connect(clock).send({ method: "GET", url: `${server.url}/x` });
    await expect(sending).rejects.toThrow("GET /x got no answer: not answered within 30 s");
    expect(dripped).toBeLessThan(35);
  });

  test("for every page of a list is left when the list as a whole takes too long", async () => {
    const clock = fakeClock();
    await using server = await scriptedServer(async (arrived, response, request) => {
      await clock.advance(20_000);
      const items = Array.from({ length: 1_000 }, (_, n) => ({ id: `${server.arrived.length}-${n}` }));
      answer(200, { items })(arrived, response, request);
    });
    const listing = coreCollection(connect(clock), server.url, "/datacenters", { depth: 1 }).list(never, "people");
    await expect(listing).rejects.toMatchObject({ kind: "Retry", executed: "no" });
    await expect(listing).rejects.toThrow("the list was not complete within 60 s");
    expect(server.arrived.length).toBeLessThanOrEqual(4);
  });

  test("for what the requests of the log were about is left as well", async () => {
    const clock = fakeClock();
    const properties = { method: "POST", url: "/datacenters" };
    const log = Array.from({ length: 100 }, (_, n) => ({
      id: `r${n}`,
      metadata: { createdDate: "2026-01-01T00:00:00Z" },
      properties,
    }));
    await using server = await scriptedServer(async (arrived, response, request) => {
      if (!arrived.url.includes("/status")) return answer(200, { items: log })(arrived, response, request);
      await clock.advance(1_000);
      answer(200, { metadata: { status: "DONE" } })(arrived, response, request);
    });
    const filter = { method: "POST", url: "/datacenters", createdAfter: 0 };
    await expect(findRequests(connect(clock), server.url, filter)).rejects.toMatchObject({ kind: "Retry" });
  });
});

describe("a call that a worker waits for", () => {
  test.each(["GET", "POST"] as const)("comes back at once when its turn is seconds away: %s", async (method) => {
    const clock = fakeClock();
    await using server = await scriptedServer(answer(429, undefined, { "retry-after": "5" }));
    const connection = connect(clock);
    await expect(connection.send({ method, url: server.url })).rejects.toMatchObject({ afterMs: 5_000 });
    const refused = { kind: "Retry", status: 429, executed: "no", afterMs: 5_000 };
    await expect(connection.send({ method, url: server.url })).rejects.toMatchObject(refused);
    expect(server.arrived).toHaveLength(1);
  });

  test("waits two seconds at most for those before it", async () => {
    const clock = fakeClock();
    await using server = await scriptedServer(() => {});
    const connection = connect(clock);
    const hanging = Array.from({ length: 16 }, () => connection.send({ method: "POST", url: server.url }));
    const ended = Promise.allSettled(hanging);
    await server.arrival(16);
    const late = expect(connection.send({ method: "POST", url: server.url })).rejects.toMatchObject({
      kind: "Retry",
      executed: "no",
      afterMs: 1_000,
    });
    await clock.advance(2_000);
    await late;
    expect(server.arrived).toHaveLength(16);
    await clock.advance(30_000);
    await ended;
  });

  test("does not wait for a list that does", async () => {
    const clock = fakeClock();
    await using server = await scriptedServer(answer(429, undefined, { "retry-after": "20" }));
    const connection = connect(clock);
    const listing = coreCollection(connection, server.url, "/datacenters", { depth: 1 }).list(never, "background");
    await server.arrival(1);
    await clock.advance(1_000);
    await expect(connection.send({ method: "GET", url: server.url })).rejects.toMatchObject({ status: 429 });
    expect(server.arrived).toHaveLength(1);
    server.script = answer(200, { items: [{ id: "one" }] });
    await clock.advance(25_000);
    expect(await listing).toMatchObject([{ id: "one" }]);
  });
});

describe("an endpoint that hangs on every write", () => {
  async function hangingServer() {
    return await scriptedServer((arrived, response, request) => {
      if (arrived.method === "GET") answer(200, {})(arrived, response, request);
    });
  }
  const outcomeOf = (sending: Promise<unknown>) => sending.catch((reason: unknown) => reason);

  test("holds five of them; the next come back at once, unsent, until one of them is let try", async () => {
    const clock = fakeClock();
    await using server = await hangingServer();
    const connection = connect(clock);
    const write = () => connection.send({ method: "POST", url: `${server.url}/x`, body: {} });
    const held = Promise.all(Array.from({ length: 5 }, () => outcomeOf(write())));
    await server.arrival(5);
    await clock.advance(30_000);
    expect(await held).toMatchObject(Array.from({ length: 5 }, () => ({ executed: "unknown" })));

    const refused = { kind: "Retry", executed: "no", status: 0, afterMs: 1_000 };
    expect(await outcomeOf(write())).toMatchObject(refused);
    expect(await outcomeOf(write())).toMatchObject({ message: "POST /x got no answer: not answered within 30 s" });
    await connection.send({ method: "GET", url: server.url });
    expect(server.arrived.filter(({ method }) => method === "POST")).toHaveLength(5);

    await clock.advance(1_000);
    const trial = outcomeOf(write());
    await server.arrival(7);
    expect(await outcomeOf(write())).toMatchObject(refused);
    await clock.advance(30_000);
    expect(await trial).toMatchObject({ executed: "unknown" });
    expect(await outcomeOf(write())).toMatchObject({ executed: "no", afterMs: 2_000 });

    server.script = answer(202, {});
    await clock.advance(2_000);
    await write();
    await Promise.all([write(), write()]);
  });

  test("keeps no other Account from it", async () => {
    const clock = fakeClock();
    await using server = await hangingServer();
    const transport = createTransport({ clock, random: () => 0 });
    transports.push(transport);
    const [one, two] = ["ns/a", "ns/b"].map((id) => transport.connect(id, { token: id }));
    const held = Array.from({ length: 5 }, () =>
      outcomeOf(Promise.resolve(one?.send({ method: "PUT", url: server.url }))),
    );
    await server.arrival(5);
    await clock.advance(30_000);
    await Promise.all(held);
    server.script = answer(200, {});
    expect(await two?.send({ method: "PUT", url: server.url })).toMatchObject({ status: 200 });
  });

  test("is not blamed for calls that were given up", async () => {
    const clock = fakeClock();
    await using server = await hangingServer();
    const connection = connect(clock);
    for (let n = 0; n < 6; n++) {
      const giveUp = new AbortController();
      const sending = outcomeOf(connection.send({ method: "POST", url: server.url, signal: giveUp.signal }));
      await server.arrival(n + 1);
      giveUp.abort();
      expect(await sending).toMatchObject({ executed: "unknown" });
    }
  });
});

test("a host that refuses connections is left alone for a while", async () => {
  const clock = fakeClock();
  const server = await scriptedServer(() => {});
  await server[Symbol.asyncDispose]();
  const connection = connect(clock);
  const failure = () => connection.send({ method: "GET", url: server.url }).catch((reason: unknown) => reason);
  const met = [];
  for (let n = 0; n < 6; n++) met.push(await failure());
  expect(met.map((error) => Reflect.get(Object(error), "afterMs"))).toEqual([...Array(5).fill(undefined), 1_000]);
  expect(new Set(met.map((error) => Reflect.get(Object(error), "message"))).size).toBe(1);
});
