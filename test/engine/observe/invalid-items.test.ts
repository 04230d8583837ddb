import { expect, test } from "vitest";
import { readyOf } from "../../../src/engine/status/status.ts";
import type { Connection } from "../../../src/platform/calls/transport.ts";
import { fakeClock } from "../../fake-clock.ts";
import { fakePlatform } from "../support/fake-platform.ts";
import { datacenterSpec, objectOf } from "../support/fixtures.ts";
import { accountOf, credentials, runEngine } from "../support/running-engine.ts";
import { stage } from "../support/stage.ts";

const MINUTE = 60_000;

/** Every list of datacenters has an item that is none. */
const spoilt = (connection: Connection): Connection => ({
  ...connection,
  async send(call) {
    const reply = await connection.send(call);
    if (!call.url.includes("/datacenters?")) return reply;
    const { items = [], ...rest } = Object(reply.body);
    return { ...reply, body: { ...rest, items: [...items, { id: "../contracts" }] } };
  },
});

const names = ["a", "b", "c"];

test("objects in a list with an invalid item are created, change and are deleted as any other", async () => {
  const platform = fakePlatform();
  const objects = names.map((name) => objectOf("Datacenter", name, { spec: { ...datacenterSpec, name } }));
  const clock = fakeClock();
  const connect = (id: string) => spoilt(platform.connectionOf(id));
  const initial = [credentials, accountOf("main")];
  await using engine = await runEngine(initial, { clock, platform, connect, shows: true });
  await clock.advance(MINUTE);
  for (const object of objects) {
    const creationTimestamp = new Date(clock.now()).toISOString();
    const annotations = { "mooring.dev/allow-non-empty-delete": "yes" };
    engine.put({ ...object, metadata: { ...object.metadata, creationTimestamp, annotations } });
  }
  await clock.advance(2 * MINUTE);
  const stored = objects.map((object) => engine.api.get(object) ?? object);
  expect(stored.map((object) => readyOf(object)?.reason)).toEqual(["Available", "Available", "Available"]);
  expect(platform.sent("POST")).toHaveLength(3);
  const [first] = stored;
  if (!first) throw new Error("no object");
  engine.put({ ...first, metadata: { ...first.metadata, deletionTimestamp: new Date(clock.now()).toISOString() } });
  await clock.advance(5 * MINUTE);
  expect(platform.items.size).toBe(2);
  expect(engine.api.get(first)?.metadata.finalizers ?? []).toEqual([]);
});

test("an object that waits for such a list says so, and is read by itself", async () => {
  const platform = fakePlatform();
  const id = platform.make("a", { properties: { name: "a", location: "de/txl" } });
  const hidden: Connection = spoilt({
    ...platform.connectionOf("shop/main"),
    send: async (call) => {
      const reply = await platform.connectionOf("shop/main").send(call);
      return call.url.includes("/datacenters?") ? { ...reply, body: { items: [] } } : reply;
    },
  });
  const status = { id, parents: {}, account: "shop/main", contract: 1, endpoint: "http://platform.test", userId: "u1" };
  const object = objectOf("Datacenter", "a", { spec: { location: "de/txl", name: "a" }, status });
  const { contextOf, pass, passes, clock } = stage([object], { platform, connection: hidden });
  contextOf("Datacenter/shop/a");
  await clock.advance(0);
  expect((await pass("Datacenter/shop/a")).decision).toMatchObject({
    step: "wait",
    reason: "PlatformUnavailable",
    message: expect.stringMatching(
      /items.0.id: not an id .*the list has an invalid item.*each Datacenter is read by itself/,
    ),
  });
  await clock.advance(1000);
  expect(await passes("Datacenter/shop/a")).toContain("rest");
});
