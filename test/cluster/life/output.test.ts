import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { isNotFound } from "../../../src/kube/client/errors.ts";
import { type Landscape, landscape } from "../landscape.ts";
import { datacenter, ipBlock, kafkaCluster, lan, scalingGroup, server } from "../objects.ts";

let world: Landscape;

beforeAll(async () => {
  world = await landscape({ operator: ["--resync", "2s", "--retry", "1s", "--annotate-after", "0s"] });
});

const shape = z.object({
  metadata: z.object({ resourceVersion: z.string(), uid: z.string() }),
  data: z.record(z.string(), z.string()).optional(),
});
/** The content of a Secret or ConfigMap as plain text; undefined if it does not exist. */
async function read(kind: "secret" | "configmap", name: string) {
  const found = await world.get(`${kind}/${name}`).catch((error) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (!found) return undefined;
  const { metadata, data = {} } = shape.parse(found);
  const as = (text: string) => (kind === "secret" ? Buffer.from(text, "base64").toString() : text);
  return { ...metadata, data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, as(value)])) };
}
const valuesOf = async (kind: "secret" | "configmap", name: string) => (await read(kind, name))?.data;
const nics = z.object({ items: z.array(z.object({ properties: z.object({ ips: z.array(z.string()) }) })) });
const message = '{.status.conditions[?(@.type=="Ready")].message}';
const block = (name: string, output: object | undefined, more: object = {}) =>
  ipBlock(name, { size: 2, ...(output && { output }), ...more });

/** The garbage collector discovers new kinds twice a minute. */
const collection = { timeout: 110_000 };

describe("the output of an IPBlock", () => {
  it("is there when the object is Ready: addresses and id, in a ConfigMap", async () => {
    await world.apply(block("front", { configMapName: "front" }));
    await world.untilReady("ipblock/front");
    const [id, ip0, ip1] = (await world.value("ipblock/front", "{.status.id} {.status.ips[0]} {.status.ips[1]}")).split(
      " ",
    );
    expect(await valuesOf("configmap", "front")).toEqual({
      ID: id,
      LOCATION: "de/txl",
      IPS: `${ip0},${ip1}`,
      IP_0: ip0,
      IP_1: ip1,
    });
    const { stdout } = await world.kubectl("describe", "ipblock", "front");
    expect(stdout).toMatch(/Normal\s+OutputCreated\s.*created ConfigMap front for workloads/);
  });

  it("is not written while nothing changes", async () => {
    const before = await read("configmap", "front");
    const passes = () => world.operator.metric("controller_runtime_reconcile_total", 'controller="ipblock"');
    const writes = async () =>
      (await world.operator.metric("rest_client_requests_total", 'method="PUT"')) +
      (await world.operator.metric("rest_client_requests_total", 'method="POST"'));
    const [made, written] = [await passes(), await writes()];
    await world.annotate("ipblock/front", "mooring.dev/reconcile-at=now");
    const version = await world.value("ipblock/front", "{.metadata.resourceVersion}");
    await expect.poll(passes).toBeGreaterThan(made);
    expect(await read("configmap", "front")).toEqual(before);
    expect(await world.value("ipblock/front", "{.metadata.resourceVersion}")).toBe(version);
    expect(await writes()).toBe(written);
  });

  it("is restored when somebody edits or deletes it", async () => {
    const before = await read("configmap", "front");
    await world.patch("configmap/front", { data: { IP_0: "6.6.6.6", more: "x" } });
    await expect.poll(() => valuesOf("configmap", "front")).toEqual(before?.data);
    await world.remove("configmap/front");
    await expect.poll(() => valuesOf("configmap", "front")).toEqual(before?.data);
    expect((await read("configmap", "front"))?.uid).not.toBe(before?.uid);
    await world.untilReady("ipblock/front");
  });

  it.each([
    ["the label of Mooring", "app.kubernetes.io/managed-by"],
    ["the label of an output", "mooring.dev/output"],
  ])("is restored when somebody edits it and removes %s", async (_, label) => {
    const before = await read("configmap", "front");
    await world.patch("configmap/front", { metadata: { labels: { [label]: null } }, data: { IP_0: "6.6.6.6" } });
    await expect.poll(() => valuesOf("configmap", "front")).toEqual(before?.data);
    expect((await read("configmap", "front"))?.uid).toBe(before?.uid);
    await world.untilReady("ipblock/front");
  });

  it("moves with its name, also into a Secret, and goes when spec asks for none", async () => {
    const { data } = (await read("configmap", "front")) ?? {};
    await world.apply(block("front", { configMapName: "renamed" }));
    await expect.poll(() => valuesOf("configmap", "renamed")).toEqual(data);
    await expect.poll(() => read("configmap", "front")).toBeUndefined();
    await world.apply(block("front", { secretName: "renamed" }));
    await expect.poll(() => valuesOf("secret", "renamed")).toEqual(data);
    await expect.poll(() => read("configmap", "renamed")).toBeUndefined();
    await world.apply(block("front", undefined));
    await expect.poll(() => read("secret", "renamed")).toBeUndefined();
    await world.untilReady("ipblock/front");
  });

  it("never touches what somebody else has under that name; the resource is there all the same", async () => {
    await world.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "theirs" }, stringData: { mine: "yes" } });
    const before = await read("secret", "theirs");
    await world.apply(block("unlucky", { secretName: "theirs" }));
    await world.untilReason("ipblock/unlucky", "SecretNotOwned");
    expect(await world.value("ipblock/unlucky", message)).toBe(
      "Secret theirs already exists and was not created for IPBlock unlucky: change spec.output.secretName",
    );
    expect(await world.value("ipblock/unlucky", "{.status.ips}")).toContain(".");
    await world.apply(block("unlucky", { secretName: "theirs" }, { name: "another-name" }));
    await expect
      .poll(async () => (await world.platform.resources("ipblocks")).map(({ properties }) => properties?.name))
      .toContain("another-name");
    await world.apply(block("unlucky", { secretName: "own" }, { name: "another-name" }));
    await world.untilReady("ipblock/unlucky");
    expect(await read("secret", "theirs")).toEqual(before);
    expect(await valuesOf("secret", "own")).toMatchObject({ LOCATION: "de/txl" });
  });

  it("is refused to the second object of one name, and given to it when the first one is gone", async () => {
    await world.apply(block("first", { configMapName: "shared" }));
    await world.untilReady("ipblock/first");
    await world.apply(block("second", { configMapName: "shared" }));
    await world.untilReason("ipblock/second", "ConfigMapNotOwned");
    expect(await world.value("ipblock/second", message)).toContain("belongs to IPBlock first");
    await world.remove(block("first", undefined));
    const id = await world.value("ipblock/second", "{.status.id}");
    await expect.poll(async () => (await valuesOf("configmap", "shared"))?.ID, collection).toBe(id);
    await world.untilReady("ipblock/second");
  });

  it("goes with the object", async () => {
    await world.remove(block("second", undefined), block("unlucky", undefined));
    await expect.poll(() => read("configmap", "shared"), collection).toBeUndefined();
    await expect.poll(() => read("secret", "own"), collection).toBeUndefined();
    expect(await valuesOf("secret", "theirs")).toEqual({ mine: "yes" });
  });

  it("of one that is only observed is written, and of a paused one it is not", async () => {
    const id = await world.value("ipblock/front", "{.status.id}");
    const watched = { externalId: id, managementPolicy: "Observe", output: { configMapName: "watched" } };
    await world.apply(ipBlock("watched", watched));
    await world.untilReady("ipblock/watched");
    expect(await valuesOf("configmap", "watched")).toMatchObject({ ID: id });
    await world.annotate("ipblock/watched", "mooring.dev/paused=true");
    await expect
      .poll(() => world.value("ipblock/watched", '{.status.conditions[?(@.type=="Paused")].status}'))
      .toBe("True");
    await world.apply(ipBlock("watched", { ...watched, output: { configMapName: "elsewhere" } }));
    await world.remove("configmap/watched");
    await world.annotate("ipblock/watched", "mooring.dev/paused-");
    await expect.poll(() => valuesOf("configmap", "elsewhere")).toMatchObject({ ID: id });
    expect(await read("configmap", "watched")).toBeUndefined();
  });
});

describe("the output of other kinds", () => {
  it("of a server has its addresses by NIC, and of a Kafka cluster its brokers", async () => {
    const nics = [{ name: "public", lan: 1, ips: ["10.7.0.2"] }];
    await world.apply(
      datacenter("dc"),
      lan("brokers"),
      server("web", { nics, output: { secretName: "web" } }),
      kafkaCluster("stream", { output: { configMapName: "stream" } }),
      scalingGroup("workers", { output: { configMapName: "workers" } }),
    );
    await world.untilReady("server/web", "kafkacluster/stream", "scalinggroup/workers");
    const of = (name: string, path: string) => world.value(name, path);
    expect(await valuesOf("secret", "web")).toEqual({
      ID: await of("server/web", "{.status.id}"),
      DATACENTER_ID: await of("datacenter/dc", "{.status.id}"),
      PRIMARY_IP: "10.7.0.2",
      IPS: "10.7.0.2",
      NIC_PUBLIC_IPS: "10.7.0.2",
    });
    expect(await valuesOf("configmap", "stream")).toEqual({
      ID: await of("kafkacluster/stream", "{.status.id}"),
      BOOTSTRAP_SERVERS: await of("kafkacluster/stream", "{.status.bootstrapServers}"),
    });
  });

  it("of a group follows its replicas", async () => {
    const servers = async () =>
      (await world.value("scalinggroup/workers", "{.status.servers[*].serverId}")).split(" ").join(",");
    /** Addresses of the NICs of these servers, from the platform. */
    const addresses = async () => {
      const dc = await world.value("datacenter/dc", "{.status.id}");
      const ofServer = async (id: string) =>
        nics.parse(await world.platform.call("GET", `/cloudapi/v6/datacenters/${dc}/servers/${id}/nics?depth=1`));
      const found = await Promise.all((await servers()).split(",").map(ofServer));
      return found.flatMap(({ items }) => items.flatMap(({ properties }) => properties.ips)).join(",");
    };
    expect(await valuesOf("configmap", "workers")).toMatchObject({ REPLICAS: "1", SERVER_IDS: await servers() });
    await expect.poll(async () => (await valuesOf("configmap", "workers"))?.IPS).toBe(await addresses());
    await world.apply(
      scalingGroup("workers", { minReplicas: 2, maxReplicas: 3, output: { configMapName: "workers" } }),
    );
    await expect.poll(async () => (await valuesOf("configmap", "workers"))?.REPLICAS).toBe("2");
    // The ConfigMap is written before the status.
    await expect.poll(addresses).toMatch(/^[\d.]+,[\d.]+$/);
    const all = await addresses();
    await expect
      .poll(() => valuesOf("configmap", "workers"))
      .toMatchObject({ SERVER_IDS: await servers(), IPS: all, NIC_PUBLIC_IPS: all });
    expect(await world.value("scalinggroup/workers", "{.status.servers[0].nics[0].ips[0]}")).toBe(all.split(",")[0]);
  });
});
