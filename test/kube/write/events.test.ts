import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createClient, type KubeClient } from "../../../src/kube/client/transport.ts";
import { createEventRecorder, type EventRecorder } from "../../../src/kube/write/events.ts";
import { type FakeClock, fakeClock } from "../../fake-clock.ts";
import { eventually, status, widget } from "../objects.ts";
import { type Exchange, type ScriptedServer, scriptedServer } from "../scripted-server.ts";

let server: ScriptedServer;
let clock: FakeClock;
let client: KubeClient;
let recorder: EventRecorder;
let errors: unknown[];
let debugged: string[];

beforeEach(async () => {
  server = await scriptedServer();
  clock = fakeClock();
  client = createClient({ server: server.url, clock });
  errors = [];
  debugged = [];
  recorder = createEventRecorder({
    client,
    component: "mooring",
    instance: "mooring-0",
    clock,
    log: {
      warn: (fields) => errors.push(Reflect.get(fields, "err")),
      debug: (_, message) => debugged.push(message),
    },
  });
});

afterEach(async () => {
  await client.close();
  await recorder.close();
  await server[Symbol.asyncDispose]();
  expect(clock.pending, "timers left behind").toBe(0);
});

const a = widget("a", 7);
const EVENTS = "/api/v1/namespaces/test/events";

interface Sent extends Record<string, unknown> {
  metadata: { name: string };
}

async function accept(): Promise<Exchange & { sent: Sent }> {
  const exchange = await server.next();
  exchange.json(201, {});
  return { ...exchange, sent: JSON.parse(exchange.body) };
}

describe("an event", () => {
  test("names its object, its time and who said it", async () => {
    recorder.record(a, "Normal", "Created", "it is there");
    const { method, path, sent } = await accept();
    expect([method, path]).toEqual(["POST", EVENTS]);
    expect(sent).toEqual({
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: expect.stringMatching(/^a\.[0-9a-f]{16}$/), namespace: "test" },
      involvedObject: {
        apiVersion: "example.dev/v1",
        kind: "Widget",
        name: "a",
        namespace: "test",
        uid: "uid-a",
        resourceVersion: "7",
      },
      type: "Normal",
      reason: "Created",
      message: "it is there",
      count: 1,
      firstTimestamp: "2026-01-01T00:00:00Z",
      lastTimestamp: "2026-01-01T00:00:00Z",
      eventTime: "2026-01-01T00:00:00.000000Z",
      action: "Reconcile",
      source: { component: "mooring" },
      reportingComponent: "mooring",
      reportingInstance: "mooring-0",
    });
    await recorder.flush();
  });

  test("of a cluster-scoped object goes to the namespace default", async () => {
    recorder.record({ ...a, metadata: { name: "a" } }, "Normal", "Created", "x");
    expect((await accept()).path).toBe("/api/v1/namespaces/default/events");
    await recorder.flush();
  });

  test("has a message of one line that no terminal obeys", async () => {
    recorder.record(a, "Warning", "Rejected", "no:\n\u001b[2Jgone\u2028");
    expect((await accept()).sent.message).toBe("no: [2Jgone ");
    await recorder.flush();
  });

  test("has a message of at most 1024 bytes, cut between characters, and a name of at most 253", async () => {
    const long = { ...a, metadata: { ...a.metadata, name: `${"n".repeat(229)}-${"n".repeat(20)}` } };
    recorder.record(long, "Warning", "Long", "🚢".repeat(1000));
    const { sent } = await accept();
    expect(sent.message).toBe(`${"🚢".repeat(255)}…`);
    expect(sent.metadata).toMatchObject({ name: expect.stringMatching(/^n{229}\.[0-9a-f]{16}$/) });
    await recorder.flush();
  });
});

describe("the same thing said again", () => {
  test("within ten minutes raises the count of the event there is", async () => {
    recorder.record(a, "Warning", "Failed", "no");
    const first = await accept();
    await recorder.flush();
    await clock.advance(599_000);
    recorder.record(a, "Warning", "Failed", "no");
    const second = await accept();
    expect(second.method).toBe("PATCH");
    expect(second.headers["content-type"]).toBe("application/merge-patch+json");
    expect(second.path).toBe(`${EVENTS}/${first.sent.metadata.name}`);
    expect(second.sent).toEqual({ count: 2, lastTimestamp: "2026-01-01T00:09:59Z" });
    await recorder.flush();
    await clock.advance(600_000);
    recorder.record(a, "Warning", "Failed", "no");
    expect(await accept()).toMatchObject({ method: "POST", sent: { count: 1 } });
    await recorder.flush();
  });

  test("before it was written costs no further write", async () => {
    recorder.record(a, "Normal", "First", "x");
    for (let times = 0; times < 5; times++) recorder.record(a, "Normal", "Second", "x");
    await accept();
    expect((await accept()).sent).toMatchObject({ reason: "Second", count: 5 });
    await recorder.flush();
    expect(server.unread).toBe(0);
  });

  test("after the server forgot the event makes a new one", async () => {
    recorder.record(a, "Normal", "Again", "x");
    const first = await accept();
    await recorder.flush();
    recorder.record(a, "Normal", "Again", "x");
    (await server.next()).json(404, status(404, "NotFound"));
    const second = await accept();
    expect(second).toMatchObject({ method: "POST", sent: { count: 1 } });
    expect(second.sent.metadata).not.toEqual(first.sent.metadata);
    await recorder.flush();
  });

  test("while somebody deletes the event is tried again, and makes a new one", async () => {
    recorder.record(a, "Normal", "Again", "x");
    await accept();
    await recorder.flush();
    recorder.record(a, "Normal", "Again", "x");
    const met = await server.next();
    met.json(409, status(409, "Conflict"));
    await eventually(() => debugged.length === 1);
    expect([met.method, debugged]).toEqual(["PATCH", ["Event not written yet"]]);
    await clock.advance(1000);
    (await server.next()).json(404, status(404, "NotFound"));
    expect(await accept()).toMatchObject({ method: "POST", sent: { reason: "Again", count: 1 } });
    await recorder.flush();
    expect(errors).toEqual([]);
  });
});

describe("too much", () => {
  test("from one object is held back: 25 at once, one more every five minutes, other objects unaffected", async () => {
    for (let n = 0; n < 40; n++) recorder.record(a, "Normal", "Spam", String(n));
    recorder.record(widget("b", 1), "Normal", "Fine", "x");
    const reasons: unknown[] = [];
    for (let n = 0; n < 26; n++) reasons.push((await accept()).sent.reason);
    expect(reasons).toEqual([...Array(25).fill("Spam"), "Fine"]);
    await recorder.flush();
    await clock.advance(300_000);
    for (let n = 0; n < 3; n++) recorder.record(a, "Normal", "Later", String(n));
    await accept();
    await recorder.flush();
    expect(server.unread).toBe(0);
  });

  test("of what goes well is held back: 100 at once for a namespace and a reason, then one a second", async () => {
    const names: string[] = [];
    const take = async (count: number) => {
      for (let n = 0; n < count; n++)
        names.push(String(Reflect.get(Object((await accept()).sent.involvedObject), "name")));
      await recorder.flush();
      expect(server.unread).toBe(0);
    };
    const created = (name: string, namespace = "test") => {
      const { metadata, ...rest } = widget(name, 1);
      recorder.record({ ...rest, metadata: { ...metadata, namespace } }, "Normal", "Created", "x");
    };
    for (let n = 0; n < 150; n++) created(`w${n}`);
    await take(100);
    expect(names.at(-1)).toBe("w99");
    // Other reasons, other namespaces and Warnings.
    recorder.record(widget("v1", 1), "Normal", "Deleted", "x");
    created("v2", "other");
    for (let n = 0; n < 120; n++) recorder.record(widget(`v${n + 3}`, 1), "Warning", "Created", "x");
    await take(122);
    await clock.advance(3000);
    for (let n = 0; n < 10; n++) created(`u${n}`);
    await take(3);
    expect(names.slice(-3)).toEqual(["u0", "u1", "u2"]);
  });

  test("for a server that does not answer drops the oldest beyond a thousand", async () => {
    recorder.record(widget("first", 1), "Warning", "X", "x");
    const held = await server.next();
    for (let n = 0; n < 1005; n++) recorder.record(widget(`w${n}`, 1), "Warning", "X", "x");
    held.json(201, {});
    const { sent } = await accept();
    expect(sent.involvedObject).toMatchObject({ name: "w5" });
    for (let n = 6; n < 1005; n++) await accept();
    await recorder.flush();
    expect(server.unread).toBe(0);
  });
});

describe("a write that fails", () => {
  test("is tried twice more and then dropped and reported", async () => {
    recorder.record(a, "Normal", "X", "x");
    (await server.next()).reset();
    await eventually(() => clock.pending === 1);
    await clock.advance(1000);
    (await server.next()).json(500, status(500, "InternalError"));
    await eventually(() => clock.pending === 1);
    await clock.advance(3000);
    (await server.next()).json(500, status(500, "InternalError"));
    await recorder.flush();
    expect(errors).toMatchObject([{ status: 500 }]);
    recorder.record(a, "Normal", "Y", "y");
    await accept();
    await recorder.flush();
  });

  test("whose answer was lost is not written twice", async () => {
    recorder.record(a, "Normal", "X", "x");
    (await server.next()).reset();
    await eventually(() => clock.pending === 1);
    await clock.advance(1000);
    (await server.next()).json(409, status(409, "AlreadyExists"));
    await recorder.flush();
    recorder.record(a, "Normal", "X", "x");
    expect((await accept()).method).toBe("PATCH");
    await recorder.flush();
    expect(errors).toEqual([]);
  });

  test("because its namespace goes away is no news", async () => {
    const causes = [{ reason: "NamespaceTerminating" }];
    recorder.record(a, "Normal", "X", "x");
    (await server.next()).json(403, status(403, "Forbidden", "being terminated", { causes }));
    recorder.record(a, "Normal", "Y", "x");
    (await server.next()).json(404, status(404, "NotFound", "namespaces not found"));
    await recorder.flush();
    expect([errors, debugged]).toEqual([[], ["Event dropped", "Event dropped"]]);
    recorder.record(a, "Normal", "Z", "x");
    (await server.next()).json(403, status(403, "Forbidden", "may not create events"));
    await recorder.flush();
    expect(errors).toMatchObject([{ status: 403 }]);
  });
});

test("close writes what waits, but not for longer than five seconds, and records nothing more", async () => {
  recorder.record(a, "Normal", "X", "x");
  recorder.record(a, "Normal", "Y", "x");
  await accept();
  await server.next();
  const closed = recorder.close();
  recorder.record(a, "Normal", "Z", "x");
  await clock.advance(5000);
  await closed;
  expect([server.unread, errors]).toEqual([0, []]);
});
