import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { readyOf } from "../../src/engine/status/status.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { objectOf } from "../engine/support/fixtures.ts";
import { filesOf } from "./simulated/lives.ts";
import { type SimulatedWorld, simulatedWorld } from "./simulated/world.ts";

const dc = objectOf("Datacenter", "dc", { spec: { location: "de/txl" } });
const lan = objectOf("Lan", "brokers", { spec: { datacenterRef: { name: "dc" } } });
const other = objectOf("Lan", "other", { spec: { datacenterRef: { name: "dc" } } });
const stream = objectOf("KafkaCluster", "stream", {
  spec: {
    size: "S",
    deletionPolicy: "Retain",
    connection: {
      datacenterRef: { name: "dc" },
      lanRef: { name: "brokers" },
      brokerAddresses: ["192.168.1.101/24", "192.168.1.102/24", "192.168.1.103/24"],
    },
  },
});
const keptLan = objectOf("Lan", "brokers", { spec: { datacenterRef: { name: "dc" }, deletionPolicy: "Retain" } });
const all = [dc, lan, other, stream];
const clusters = "/streaming/de-txl/clusters";
const listed = z.looseObject({ items: z.array(z.looseObject({ id: z.string() })) });

let world: SimulatedWorld;
beforeEach(async () => {
  world = await simulatedWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

async function apply(...objects: KubeObject[]) {
  for (const each of objects) world.know(each);
  world.apply(filesOf(objects));
  await world.rest();
}
const ready = (object: KubeObject) => readyOf(world.live(object) ?? object);
const isGone = (object: KubeObject) => !world.live(object)?.metadata.finalizers?.length;
const minutes = (count: number) => world.turn(20, 3 * count);
const planned = async (...objects: KubeObject[]) => {
  const items = await world.plan(filesOf(objects), { destroy: true });
  return Object.fromEntries(items.map((item) => [`${item.kind}/${item.name}`, item]));
};
async function deleteCluster() {
  const { items } = listed.parse(await world.call("GET", clusters));
  for (const { id } of items) await world.call("DELETE", `${clusters}/${id}`);
  await world.idle();
}

describe("a Kafka cluster that stays on the platform", () => {
  it("keeps its Lan and Datacenter, which name it and the ways out; so does the plan before", async () => {
    await apply(...all);
    const plan = await planned(...all);
    expect(plan["Lan/brokers"]).toMatchObject({ action: "blocked", writes: false });
    expect(plan["Lan/brokers"]?.message).toMatch(/^InUse: Lan is still used by Kafka cluster stream\. .*Retain/);
    expect(plan["Datacenter/dc"]?.message).toMatch(/^NotEmpty: Datacenter still holds Kafka cluster stream\. .*Retain/);
    expect(plan["Lan/other"]).toMatchObject({ action: "delete" });

    for (const each of all) world.remove(each);
    await minutes(3);
    for (const each of [stream, other]) expect(isGone(each)).toBe(true);
    expect(ready(lan)).toMatchObject({ status: "False", reason: "InUse" });
    expect(ready(lan)?.message).toMatch(/^Lan is still used by Kafka cluster stream\. /);
    expect(ready(dc)).toMatchObject({ status: "False" });
    expect(world.writes.filter(({ method }) => method === "DELETE")).toHaveLength(1);

    await deleteCluster();
    await minutes(5);
    for (const each of all) expect(isGone(each)).toBe(true);
  });

  it("keeps the Datacenter when no other object is left", async () => {
    await apply(dc, keptLan, stream);
    for (const each of [stream, keptLan, dc]) world.remove(each);
    await minutes(3);
    for (const each of [stream, keptLan]) expect(isGone(each)).toBe(true);
    expect(ready(dc)).toMatchObject({ status: "False", reason: "NotEmpty" });
    expect(ready(dc)?.message).toMatch(/^Datacenter still holds Kafka cluster stream\. /);
    world.annotate(dc, "mooring.dev/allow-non-empty-delete", "true");
    await minutes(3);
    expect(isGone(dc)).toBe(true);
  });

  it("keeps nothing where the user may not see clusters, and no object has one", async () => {
    await apply(...all);
    world.remove(stream);
    await minutes(1);
    const route = "GET /streaming/{region}/clusters";
    await world.call("PUT", "/_simulator/faults", { rules: [{ fault: "status", route, status: 403, message: "no" }] });
    for (const each of [lan, other]) world.remove(each);
    await minutes(3);
    for (const each of [lan, other]) expect(isGone(each)).toBe(true);
  });

  it("is waited for while the list of clusters gets no answer, though no object has one", async () => {
    await apply(...all);
    world.remove(stream);
    await minutes(1);
    const route = "GET /streaming/{region}/clusters";
    await world.call("PUT", "/_simulator/faults", { rules: [{ fault: "reset", route }] });
    world.remove(other);
    world.reads.length = 0;
    await minutes(10);
    expect(isGone(other)).toBe(false);
    expect(ready(other)).toMatchObject({ status: "False", reason: "PlatformUnavailable" });
    // Each attempt waits longer than the one before.
    expect(world.reads.filter((url) => url.endsWith(clusters)).length).toBeLessThan(40);
    await world.call("PUT", "/_simulator/faults", { rules: [] });
    await minutes(25);
    expect(isGone(other)).toBe(true);
  });

  it("is waited for where clusters cannot be read, and an object has one", async () => {
    await apply(...all);
    const route = "GET /streaming/{region}/clusters";
    await world.call("PUT", "/_simulator/faults", { rules: [{ fault: "status", route, status: 403, message: "no" }] });
    world.remove(other);
    await minutes(3);
    expect(isGone(other)).toBe(false);
    expect(ready(other)).toMatchObject({ status: "False", reason: "Forbidden" });
    await world.call("PUT", "/_simulator/faults", { rules: [] });
    await minutes(5);
    expect(isGone(other)).toBe(true);
  });
});
