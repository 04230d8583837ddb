import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { readyOf } from "../../src/engine/status/status.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { objectOf } from "../engine/support/fixtures.ts";
import { filesOf } from "./simulated/lives.ts";
import { type SimulatedWorld, simulatedWorld } from "./simulated/world.ts";

const made = z.looseObject({ id: z.string() });
const connection = {
  datacenterRef: { name: "dc" },
  lanRef: { name: "brokers" },
  brokerAddresses: ["192.168.1.101/24", "192.168.1.102/24", "192.168.1.103/24"],
};
const surroundings = [
  objectOf("Datacenter", "dc", { spec: { location: "de/txl" } }),
  objectOf("Lan", "brokers", { spec: { datacenterRef: { name: "dc" } } }),
];
const stream = objectOf("KafkaCluster", "stream", { spec: { size: "S", connection } });
const inStream = { clusterRef: { name: "stream" } };
const topic = (name: string, policies: object = {}) =>
  objectOf("KafkaTopic", name, { spec: { ...inStream, replicationFactor: 3, numberOfPartitions: 3, ...policies } });
const user = objectOf("KafkaUser", "access", { spec: inStream });
const kept = { deletionPolicy: "Retain" };

let world: SimulatedWorld;
beforeEach(async () => {
  world = await simulatedWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

async function apply(...objects: KubeObject[]) {
  const all = [...surroundings, stream, ...objects];
  for (const each of all) world.know(each);
  world.apply(filesOf(all));
  await world.rest();
}
const clusterPath = () => `/streaming/de-txl/clusters/${made.parse(world.live(stream)?.status).id}`;
const ready = (object: KubeObject) => readyOf(world.live(object) ?? object);
const isGone = (object: KubeObject) => !world.live(object)?.metadata.finalizers?.length;
const planned = async (...objects: KubeObject[]) => {
  const items = await world.plan(filesOf(objects), { destroy: true });
  return Object.fromEntries(items.map((item) => [`${item.kind}/${item.name}`, item]));
};
/** Passes and time that are enough for every deletion. */
const minutes = (count: number) => world.turn(20, 3 * count);

describe("a KafkaCluster that is deleted", () => {
  it("stays with a topic that was kept, and names it and the ways out; so does the plan before", async () => {
    const orders = topic("orders", kept);
    await apply(orders, topic("audit"), user);
    const all = [stream, orders, topic("audit"), user];
    const { "KafkaCluster/stream": item } = await planned(...all);
    expect(item).toMatchObject({ action: "blocked", writes: false });
    expect(item?.message).toMatch(/^NotEmpty: KafkaCluster still holds topic orders\. .*deletionPolicy: Retain/);

    for (const each of all) world.remove(each);
    await minutes(3);
    for (const each of [orders, topic("audit"), user]) expect(isGone(each)).toBe(true);
    expect(ready(stream)).toMatchObject({ status: "False", reason: "NotEmpty" });
    const message = ready(stream)?.message;
    expect(message).toMatch(
      /^KafkaCluster still holds topic orders\. To keep all of it on the platform, set deletionPo/,
    );
    expect(message).toContain('set the annotation mooring.dev/allow-non-empty-delete to "true"');
    expect(await world.call("GET", `${clusterPath()}/topics`)).toMatchObject({ items: [{ type: "topic" }] });
    const again = await planned(stream);
    expect(again["KafkaCluster/stream"]?.message).toContain("topic orders");

    world.annotate(stream, "mooring.dev/allow-non-empty-delete", "true");
    await minutes(3);
    expect(isGone(stream)).toBe(true);
  });

  it("stays with a topic that no object manages, until somebody deletes that", async () => {
    await apply(topic("orders"));
    const properties = { name: "by-hand", replicationFactor: 3, numberOfPartitions: 3 };
    const { id } = made.parse(await world.call("POST", `${clusterPath()}/topics`, { properties }));
    await world.idle();
    const { "KafkaCluster/stream": item } = await planned(stream, topic("orders"));
    expect(item).toMatchObject({ action: "blocked", message: expect.stringContaining("holds topic by-hand.") });
    for (const each of [stream, topic("orders")]) world.remove(each);
    await minutes(3);
    expect(ready(stream)?.message).toMatch(/^KafkaCluster still holds topic by-hand\. /);
    await world.call("DELETE", `${clusterPath()}/topics/${id}`);
    await minutes(3);
    expect(isGone(stream)).toBe(true);
  });

  it("goes after its topics, its user being no content, with two lists more than before", async () => {
    await apply(topic("orders"), user);
    const all = [stream, topic("orders"), user];
    const plan = await planned(...all);
    expect(plan["KafkaCluster/stream"]).toMatchObject({
      action: "delete",
      writes: true,
      after: ["KafkaTopic/shop/orders", "KafkaUser/shop/access"],
    });
    const topics = `${clusterPath()}/topics`;
    for (const each of all) world.remove(each);
    world.reads.length = 0;
    await minutes(3);
    for (const each of all) expect(isGone(each)).toBe(true);
    expect(world.reads.filter((url) => url.endsWith(topics))).toHaveLength(2);
  });

  it("stays with a KafkaUser that is not deleted", async () => {
    await apply(user);
    world.remove(stream);
    await minutes(3);
    expect(ready(stream)).toMatchObject({ reason: "NotEmpty" });
    expect(ready(stream)?.message).toContain("KafkaUser/shop/access");
  });
});

describe("the plan of a Datacenter that is deleted", () => {
  const data = objectOf("Volume", "data", {
    spec: { datacenterRef: { name: "dc" }, size: 10, type: "HDD", licenceType: "OTHER", ...kept },
  });
  const [dc, brokers] = surroundings;
  const all = [dc, brokers, stream, data].flatMap((each) => each ?? []);

  it("names the Volume that is kept in it, and what no object manages", async () => {
    await apply(data);
    const { "Datacenter/dc": item } = await planned(...all);
    const message = expect.stringMatching(/^NotEmpty: Datacenter still holds volume data\. /);
    expect(item).toMatchObject({ action: "blocked", writes: false, message });
    const servers = `/cloudapi/v6/datacenters/${item?.id}/servers`;
    await world.call("POST", servers, { properties: { name: "stranger", cores: 1, ram: 1024 } });
    await world.idle();
    for (const each of all.slice(1)) world.remove(each);
    await minutes(3);
    const { "Datacenter/dc": alone } = await planned(...all.slice(0, 1));
    expect(alone?.message).toMatch(/^NotEmpty: Datacenter still holds .*server stranger/);
    expect(alone?.message).toContain("volume data");
  });

  it("says that the contents are not known where they cannot be read", async () => {
    await apply(data);
    const route = "GET /cloudapi/v6/datacenters/{datacenterId}/volumes";
    const unread = { fault: "status", route, status: 403, message: "not for you", skip: 1 };
    await world.call("PUT", "/_simulator/faults", { rules: [unread] });
    const { "Datacenter/dc": item } = await planned(...all);
    expect(item).toMatchObject({ action: "delete", message: expect.stringContaining("what is inside is not known: ") });
  });
});

describe("a KafkaCluster that has failed, whose topics the platform does not list", () => {
  const failing = (route: string) =>
    world.call("PUT", "/_simulator/faults", { rules: [{ fault: "request-failed", route, count: 1 }] });

  it("is replaced if its creation has failed", async () => {
    await failing("POST /streaming/{region}/clusters");
    for (const each of [...surroundings, stream]) world.know(each);
    world.apply(filesOf([...surroundings, stream]));
    await minutes(5);
    expect(ready(stream)).toMatchObject({ reason: "Available" });
    expect(world.writes.filter(({ method }) => method === "DELETE")).toHaveLength(1);
  });

  it("is deleted with its object if its creation has failed", async () => {
    await failing("POST /streaming/{region}/clusters");
    for (const each of [...surroundings, stream]) world.know(each);
    world.apply(filesOf([...surroundings, stream]));
    for (let passes = 0; ready(stream)?.reason !== "ProvisioningFailed" && passes < 20; passes++) await world.turn(2);
    world.remove(stream);
    await minutes(3);
    expect(isGone(stream)).toBe(true);
  });

  it("is deleted again if its deletion has failed", async () => {
    await apply();
    await failing("DELETE /streaming/{region}/clusters/{clusterId}");
    world.remove(stream);
    await minutes(10);
    expect(isGone(stream)).toBe(true);
    expect(world.writes.filter(({ method }) => method === "DELETE")).toHaveLength(2);
  });

  it("stays in any other case, and says how to delete it unseen", async () => {
    await apply(topic("orders", kept));
    const path = clusterPath();
    world.remove(topic("orders", kept));
    await minutes(1);
    await failing("DELETE /streaming/{region}/clusters/{clusterId}");
    await world.call("DELETE", path);
    await minutes(1);
    expect(await world.call("GET", path)).toMatchObject({ metadata: { state: "FAILED" } });
    world.remove(stream);
    await minutes(3);
    expect(isGone(stream)).toBe(false);
    expect(ready(stream)?.message).toMatch(/topics.* AVAILABLE.*mooring\.dev\/allow-non-empty-delete.*Retain/);
    world.annotate(stream, "mooring.dev/allow-non-empty-delete", "true");
    await minutes(3);
    expect(isGone(stream)).toBe(true);
  });
});
