import { describe, expect, it } from "vitest";
import { resourceIdentity } from "../../src/diagnostics/landscape/resources.ts";
import { mooringObject } from "../../src/diagnostics/objects.ts";
import { existing } from "../../src/import/existing.ts";
import { kinds } from "../../src/kinds/index.ts";
import { imported } from "./platform.ts";

const id = (digit: number) => "11111111-1111-4111-8111-111111111111".replaceAll("1", String(digit));
const [DC, SERVER, SNAPSHOT, BLOCK, KAFKA] = [1, 2, 3, 4, 5].map(id) as [string, string, string, string, string];
const [VOLUME, FLOWLOG, TOPIC, NIC] = [6, 7, 8, 9].map(id) as [string, string, string, string];
const IP = "192.0.2.7";

const flowlog = {
  id: FLOWLOG,
  metadata: {},
  properties: { name: "all", action: "ALL", direction: "INGRESS", bucket: "b" },
};
const nics = { items: [{ id: NIC, properties: { name: "eth0", lan: 1, dhcp: true, ips: [IP] } }] };
const disk = { name: "data", size: 10, type: "HDD", image: SNAPSHOT, bootServer: SERVER };
const collections = {
  "/datacenters": [{ id: DC, properties: { name: "shop", location: "de/txl" } }],
  [`/datacenters/${DC}/lans`]: [{ id: "1", properties: { name: "front", public: true } }],
  [`/datacenters/${DC}/servers`]: [
    { id: SERVER, properties: { name: "web", type: "ENTERPRISE", cores: 1, ram: 1024 }, entities: { nics } },
  ],
  [`/datacenters/${DC}/servers/${SERVER}/nics/${NIC}/flowlogs`]: [flowlog],
  [`/datacenters/${DC}/volumes`]: [{ id: VOLUME, properties: disk }],
  "/snapshots": [{ id: SNAPSHOT, properties: { name: "base", location: "de/txl", size: 10 } }],
  "/ipblocks": [{ id: BLOCK, properties: { name: "ips", location: "de/txl", size: 1, ips: [IP] } }],
  "/clusters": [{ id: KAFKA, properties: { name: "stream", version: "3.9.0", size: "XS" } }],
  [`/clusters/${KAFKA}/topics`]: [{ id: TOPIC, properties: { name: "orders", replicationFactor: 1 } }],
};

type Result = Awaited<ReturnType<typeof imported>>;
const specsOf = ({ kept }: Result) => Object.fromEntries(kept.map(({ object }) => [object.kind, object.spec]));

/** The objects that the first import has made, without those of the kind, as the cluster has them. */
const thereWithout = ({ kept }: Result, kind: string, namespace = "shop") =>
  existing(
    kept.flatMap(({ object, resource }) => {
      const { spec, metadata } = object;
      const claim = { id: resource.id, parents: resource.parents, account: "Account/shop/main", endpoint: "https://x" };
      const there = {
        ...object,
        spec,
        metadata: { ...metadata, namespace },
        status: { internal: claim, id: resource.id },
      };
      return object.kind === kind ? [] : [mooringObject(resource.kind, there)];
    }),
    "shop",
  );

describe("an import in two steps", () => {
  it.each(["KafkaTopic", "Server", "Volume", "FlowLog", "Lan"])("has the references of one: %s", async (kind) => {
    const all = await imported(collections);
    expect(all.dropped).toEqual([]);
    const there = thereWithout(all, kind);
    const second = await imported(collections, there);
    expect(specsOf(second)).toEqual({ [kind]: specsOf(all)[kind] });
    expect(JSON.stringify(specsOf(second))).toMatch(/Ref"/);
    const managed = await imported(collections, { ...there, manage: true });
    expect(JSON.stringify(specsOf(managed))).toMatch(/Ref"/);
  });

  it("has no references to objects of other namespaces", async () => {
    const all = await imported(collections);
    const there = thereWithout(all, "KafkaTopic", "other");
    const held = new Map(
      all.kept.flatMap((each) =>
        each.object.kind === "KafkaTopic" ? [] : [[resourceIdentity(each.resource), "x"]],
      ) as [string, string][],
    );
    expect(specsOf(await imported(collections, { ...there, held }))).toMatchObject({
      KafkaTopic: { clusterId: KAFKA },
    });
  });

  it("refers to the object that owns the resource, and to none that is being deleted", () => {
    const cluster = kinds.find(({ kind }) => kind === "KafkaCluster");
    if (!cluster) throw new Error("no kind KafkaCluster");
    const object = (name: string, spec: object, status: object, metadata: object = {}) =>
      mooringObject(cluster, {
        apiVersion: "mooring.dev/v1alpha1",
        kind: "KafkaCluster",
        metadata: { name, namespace: "shop", ...metadata },
        spec,
        status,
      });
    const claim = { id: KAFKA, account: "Account/shop/main", endpoint: "https://x" };
    const named = object("named", { externalId: KAFKA }, {});
    const observer = object("observer", { externalId: KAFKA, managementPolicy: "Observe" }, claim);
    const owner = object("owner", {}, claim);
    const dying = object("dying", {}, claim, {
      deletionTimestamp: "2026-01-01T00:00:00Z",
      finalizers: ["mooring.dev/finalizer"],
    });
    const ownerOf = (...objects: (typeof named)[]) => existing(objects, "shop").owners.get(KAFKA);
    expect(ownerOf(owner, observer, named)).toBe("owner");
    expect(ownerOf(observer, named)).toBe("observer");
    expect(ownerOf(named, dying)).toBe("named");
    expect(ownerOf(dying)).toBeUndefined();
  });
});
