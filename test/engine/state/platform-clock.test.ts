import { describe, expect, test } from "vitest";
import { FINALIZER } from "../../../src/engine/state/names.ts";
import { openIntent } from "../../../src/engine/state/object.ts";
import { readStatus } from "../../../src/engine/status/status.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { Retry } from "../../../src/platform/answers/errors.ts";
import type { PlatformCall } from "../../../src/platform/calls/transport.ts";
import { fakeApiServer } from "../support/fake-api-server.ts";
import { fakePlatform } from "../support/fake-platform.ts";
import { objectOf, serverSpec } from "../support/fixtures.ts";
import { DC } from "../support/lives.ts";
import { BEGIN, SETTINGS, stage } from "../support/stage.ts";

const HOUR = 3_600_000;
const SKEWS: [string, number][] = [
  ["200 s behind the operator's", -200_000],
  ["200 s ahead of the operator's", 200_000],
  ["an hour behind the operator's", -HOUR],
  ["an hour ahead of the operator's", HOUR],
];

/** Objects and a platform that outlive the operator's processes, each of which may have another clock. */
function open(...objects: KubeObject[]) {
  const platform = fakePlatform();
  const api = fakeApiServer(...objects);
  let truth = () => BEGIN;
  /** A process that knows how far the platform's clock is ahead of its own. */
  function live(aheadMs: number) {
    const connection = { ...platform.connectionOf("shop/main"), aheadMs };
    const life = stage(objects, { platform, api, connection, wallTime: truth() - aheadMs });
    truth = () => life.clock.now() + aheadMs;
    platform.setClock(truth);
    return life;
  }
  return { platform, api, live };
}

/** Loses the answers to all POSTs after they were executed. */
const loseAnswers = ({ method }: PlatformCall) => {
  if (method === "POST") throw new Retry({ call: "POST", status: 0 }, "unknown");
};

async function settle({ passes, clock, sync }: ReturnType<typeof stage>, key: Parameters<typeof passes>[0]) {
  for (let round = 0; round < 20; round++) {
    sync();
    await passes(key);
    await clock.advance(10_000);
  }
}

/** A snapshot that is about to be restored. */
function restoring() {
  const volume = "0d4f97f0-1689-41ef-97ce-525400f64d8d";
  const object = objectOf("Snapshot", "a", {
    spec: { datacenterId: DC, volumeId: volume },
    metadata: { name: "a", finalizers: [FINALIZER], annotations: { "mooring.dev/restore-at": "now" } },
    status: { id: "snap-1", parents: { datacenter: DC, volume }, account: "shop/main", restored: "" },
  });
  const world = open(object);
  const properties = { name: "a", description: "", location: "de/txl", size: 10, licenceType: "LINUX" };
  world.platform.make("a", { properties }, { path: "/snapshots", targets: ["snap-1"] });
  return { object, world };
}

describe.each(SKEWS)("with a platform whose clock is %s", (_, aheadMs) => {
  test.each([0, 90_000, -HOUR])(
    "a creation without an answer is made once, also when the next process's is %i ms off",
    async (off) => {
      const object = objectOf("Datacenter", "a", { spec: { name: "a", location: "de/txl" } });
      const { platform, api, live } = open(object);
      platform.afterEach(loseAnswers);
      await live(aheadMs).passes("Datacenter/shop/a");
      const intent = openIntent(api.get(object) ?? object);
      await settle(live(aheadMs + off), "Datacenter/shop/a");
      expect(platform.sent("POST")).toHaveLength(1);
      expect(platform.items.size).toBe(1);
      expect(Date.parse(intent?.at ?? "")).toBe(BEGIN);
    },
  );

  test("a change without an answer is made once", async () => {
    const { platform, live } = restoring().world;
    platform.afterEach(loseAnswers);
    await settle(live(aheadMs), "Snapshot/shop/a");
    expect(platform.sent("POST")).toHaveLength(1);
  });
});

describe.each([
  ["an hour ahead", HOUR],
  ["40 days ahead", 40 * 24 * HOUR],
  ["30 years ahead", 30 * 365 * 24 * HOUR],
  ["40 days behind", -40 * 24 * HOUR],
])("with Date headers that are wrong by %s, of a platform whose clock is right", (_, lieMs) => {
  /** A process that assumes this skew, on a platform with the same clock. */
  function deceived({ platform, live }: ReturnType<typeof open>, aheadMs: number) {
    const life = live(0);
    platform.setClock(life.clock.now);
    const handle = life.accounts.get("shop/main");
    if (handle) Reflect.set(handle.connection, "aheadMs", aheadMs);
    return life;
  }
  const times: [string, boolean, boolean][] = [
    ["when it is sent", true, false],
    ["when it is searched for", false, true],
    ["all the time", true, true],
  ];

  test.each(times)("%s, a creation without an answer is made once", async (_, first, then) => {
    const object = objectOf("Datacenter", "a", { spec: { name: "a", location: "de/txl" } });
    const world = open(object);
    world.platform.afterEach(loseAnswers);
    await deceived(world, first ? lieMs : 0).passes("Datacenter/shop/a");
    world.platform.afterEach(() => {});
    await settle(deceived(world, then ? lieMs : 0), "Datacenter/shop/a");
    expect(world.platform.sent("POST")).toHaveLength(1);
    expect(world.platform.items.size).toBe(1);
    expect(readStatus(world.api.get(object) ?? object).id).toBe([...world.platform.items.keys()][0]);
  });

  test("the deletion of a resource is found", async () => {
    const object = objectOf("Datacenter", "a", { spec: { name: "a", location: "de/txl" } });
    const world = open(object);
    const life = deceived(world, lieMs);
    await settle(life, "Datacenter/shop/a");
    const [id = ""] = world.platform.items.keys();
    world.platform.removeByHand(id);
    await settle(life, "Datacenter/shop/a");
    Reflect.set(life.accounts.get("shop/main")?.connection ?? {}, "aheadMs", 0);
    await settle(life, "Datacenter/shop/a");
    expect(world.platform.sent("POST")).toHaveLength(2);
  });

  test.each(times)("%s, a change without an answer is made once", async (_, first, then) => {
    const { object, world } = restoring();
    world.platform.afterEach(loseAnswers);
    await deceived(world, first ? lieMs : 0).passes("Snapshot/shop/a");
    await settle(deceived(world, then ? lieMs : 0), "Snapshot/shop/a");
    expect(world.platform.sent("POST")).toHaveLength(1);
    expect(readStatus(world.api.get(object) ?? object).request).toBeUndefined();
  });
});

test.each([
  ["an hour behind", HOUR],
  ["right", 0],
])("an object says what it waits for after the grace time, when the operator's clock is %s", async (_, behindMs) => {
  const creationTimestamp = new Date(BEGIN + behindMs).toISOString();
  const server = objectOf("Server", "s", { spec: serverSpec("dc"), metadata: { name: "s", creationTimestamp } });
  const { deps, passes, clock } = stage([server]);
  deps.settings = { ...SETTINGS, graceMs: 5000 };
  expect(await passes("Server/shop/s")).toEqual(["wait Observing"]);
  await clock.advance(5001);
  expect(await passes("Server/shop/s")).toEqual(["wait ReferenceNotFound"]);
});
