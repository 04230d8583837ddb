import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { type Landscape, landscape } from "../landscape.ts";
import { datacenter, server } from "../objects.ts";

/** Every periodic action of the operator, many times a minute. */
const intervals = ["--resync", "2s", "--recheck", "5s", "--annotate-after", "1s", "--cluster-name", "blue"];
/** The platform's clock at real speed: a growing clock skew would be reported in the status of the Account. */
const simulator = ["--speed", "1"];
const RESYNCS = 12;
const names = Array.from({ length: 10 }, (_, index) => `server-${index}`);
const kinds = ["accounts", "datacenters", "servers", "secrets", "configmaps", "events"];

/** The versions of all objects, which every write changes. */
const versionsIn = (world: Landscape): Promise<string[]> =>
  Promise.all(kinds.map(async (kind) => `${kind}: ${await world.value(kind, "{.items[*].metadata.resourceVersion}")}`));

/** Waits until no object is written for longer than a recheck. */
async function untilRest(world: Landscape): Promise<void> {
  for (let [last, now] = ["", "-"]; last !== now; ) {
    await delay(6000);
    [last, now] = [now, (await versionsIn(world)).join()];
  }
}

it("at rest nothing is written to either side, over many resyncs and rechecks", async () => {
  const world = await landscape({ simulator, operator: intervals });
  await world.apply(datacenter("dc"), ...names.map((name) => server(name)));
  await world.untilReady("account/main", "datacenter/dc", ...names.map((name) => `server/${name}`));
  await untilRest(world);
  const claims = await world.value("servers", "{.items[*].metadata.annotations.mooring\\.dev/external-id}");
  expect(claims.split("} {")).toHaveLength(names.length);

  const before = await versionsIn(world);
  const passes = await world.operator.metric("controller_runtime_reconcile_total");
  await world.platform.resetCalls();
  const routes = async () => (await world.platform.calls()).byRoute;
  const lists = async () => (await routes())["GET /cloudapi/v6/datacenters/{datacenterId}/servers"] ?? 0;
  await expect.poll(lists).toBeGreaterThanOrEqual(RESYNCS);
  expect(await versionsIn(world)).toEqual(before);
  expect(await world.platform.writes()).toEqual([]);
  expect(await world.operator.metric("controller_runtime_reconcile_total")).toBeGreaterThan(passes + names.length);
});
