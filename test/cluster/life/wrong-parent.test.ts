import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Landscape, landscape } from "../landscape.ts";
import { datacenter, flowLog, kafkaCluster, kafkaTopic, lan, server, snapshot, volume } from "../objects.ts";
import { watching } from "../watching.ts";

let world: Landscape;

beforeAll(async () => {
  world = await landscape({
    // The resync is so long that only events cause a reconcile.
    operator: ["--create-deadline", "3s", "--settle", "3s", "--retry", "1s", "--resync", "1h"],
  });
  await world.apply(datacenter("dc"));
  await world.untilReady("datacenter/dc");
});

const core = "/cloudapi/v6/datacenters";
const nobody = "00000000-0000-4000-8000-000000000000";
const condition = (type: string, field: string) => `{.status.conditions[?(@.type=="${type}")].${field}}`;
const events = z.looseObject({ items: z.array(z.looseObject({ message: z.string(), count: z.int() })) });
const posts = async (route: string) => (await world.platform.calls()).byRoute[`POST ${route}`] ?? 0;
const named = async (collection: string, name: string) =>
  (await world.platform.resources(collection)).filter(({ properties }) => properties?.name === name);

/** The number of Warnings about an object with this text. */
async function warned(kind: string, name: string, reason: string): Promise<number> {
  const about = `type=Warning,involvedObject.kind=${kind},involvedObject.name=${name},reason=${reason}`;
  return events.parse(await world.get("events", about)).items.reduce((sum, { count }) => sum + count, 0);
}

/** Attempts in twenty seconds with a backoff that starts at one second. Without backoff there are hundreds. */
const HANDFUL = 6;
const WINDOW_MS = 20_000;

const inNobody = { datacenterRef: undefined, datacenterId: nobody };
const inHome = { datacenterRef: { name: "dc" } };
const balancer = { serverRef: undefined, nic: undefined, networkLoadBalancerId: nobody, ...inHome };
const subjects = [
  { manifest: lan("astray", inNobody), field: "datacenterId", route: `${core}/{datacenterId}/lans` },
  { manifest: server("astray", inNobody), field: "datacenterId", route: `${core}/{datacenterId}/servers` },
  { manifest: volume("astray", inNobody), field: "datacenterId", route: `${core}/{datacenterId}/volumes` },
  {
    manifest: snapshot("astray", { volumeRef: undefined, volumeId: nobody, ...inHome }),
    field: "volumeId",
    route: `${core}/{datacenterId}/volumes/{volumeId}/create-snapshot`,
  },
  {
    manifest: flowLog("astray", balancer),
    field: "networkLoadBalancerId",
    route: `${core}/{datacenterId}/networkloadbalancers/{networkLoadBalancerId}/flowlogs`,
  },
  {
    manifest: kafkaTopic("astray", { clusterRef: undefined, clusterId: nobody }),
    field: "clusterId",
    route: "/streaming/{region}/clusters/{clusterId}/topics",
  },
];

describe("a parent id that nothing has", () => {
  /** Calls in this time by route, and writes by kind. */
  let sent: Record<string, number>;
  const written = new Map<string, number>();
  const ref = (kind: string) => `${kind.toLowerCase()}/astray`;

  beforeAll(async () => {
    await world.platform.resetCalls();
    await world.apply(...subjects.map(({ manifest }) => manifest));
    const watched = await Promise.all(
      subjects.map(async ({ manifest: { kind } }) => ({ kind, by: await watching(world, ref(kind), "{.kind}") })),
    );
    // A fixed time, because the test counts the calls in it.
    await delay(WINDOW_MS);
    sent = (await world.platform.calls()).byRoute;
    for (const { kind, by } of watched) {
      written.set(kind, by.seen().length);
      await by.stop();
    }
  });

  for (const { manifest, field, route } of subjects) {
    const { kind } = manifest;
    describe(`of a ${kind}`, () => {
      it("costs a handful of attempts and of writes in twenty seconds", async () => {
        const attempts = sent[`POST ${route}`];
        expect(attempts).toBeGreaterThanOrEqual(1);
        expect(attempts).toBeLessThanOrEqual(HANDFUL);
        // An attempt writes an intent and its outcome.
        expect(written.get(kind)).toBeLessThanOrEqual(2 * HANDFUL + 2);
      });

      it("is reported once, with the field and the id, as ParentNotFound", async () => {
        const conditions = `${condition("Ready", "reason")} ${condition("Stalled", "status")}`;
        expect(await world.value(ref(kind), conditions)).toBe("ParentNotFound True");
        const message = await world.value(ref(kind), condition("Ready", "message"));
        expect(message).toContain(field);
        expect(message).toContain(nobody);
        expect(await warned(kind, "astray", "ParentNotFound")).toBe(1);
      });

      it("does not keep the object from being deleted at once", async () => {
        const { code, stderr } = await world.kubectl("delete", ref(kind), "--timeout=10s");
        expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      });
    });
  }
});

describe("a parent that was removed by hand and still shows Ready", () => {
  it("is read again when a creation in it is refused: both are created again, with a handful of attempts", async () => {
    await world.apply(datacenter("removed"));
    await world.untilReady("datacenter/removed");
    const before = await world.value("datacenter/removed", "{.status.id}");
    await world.platform.call("DELETE", `${core}/${before}`);
    await expect.poll(() => named("datacenters", "removed")).toEqual([]);
    await world.platform.resetCalls();
    await world.apply(lan("inside", { datacenterRef: { name: "removed" } }));
    await expect.poll(() => named("lans", "inside")).toHaveLength(1);
    await world.untilReady("datacenter/removed", "lan/inside");
    expect(await world.value("datacenter/removed", "{.status.id}")).not.toBe(before);
    expect(await posts(`${core}/{datacenterId}/lans`)).toBeLessThanOrEqual(HANDFUL);
  });
});

describe("a topic whose cluster is not there can be deleted", () => {
  it("when there never was such a cluster, and the answer to its creation was lost", async () => {
    const route = "/streaming/{region}/clusters/{clusterId}/topics";
    await world.platform.faults({ route: `POST ${route}`, fault: "response-lost" });
    const before = await posts(route);
    await world.apply(kafkaTopic("stray", { clusterRef: undefined, clusterId: nobody }));
    await expect.poll(() => posts(route)).toBeGreaterThan(before);
    const { code, stderr } = await world.kubectl("delete", "kafkatopic", "stray", "--timeout=30s");
    await world.platform.faults();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  it("when the cluster was removed by hand", async () => {
    await world.apply(lan("brokers"), kafkaCluster("stream"), kafkaTopic("orphan"));
    await world.untilReady("kafkatopic/orphan");
    const id = await world.value("kafkacluster/stream", "{.status.id}");
    await world.platform.call("DELETE", `/streaming/de-txl/clusters/${id}`);
    await expect.poll(() => world.platform.resources("streamingClusters")).toEqual([]);
    const { code, stderr } = await world.kubectl("delete", "kafkatopic", "orphan", "--timeout=30s");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });
});
