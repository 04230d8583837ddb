import { describe, expect, it } from "vitest";
import { items, platformForFile, refusal, resource, startPlatform } from "./platform.ts";

const platform = await platformForFile();
const datacenterId = (await platform.datacenter()).replace("/datacenters/", "");

const clusterBody = (properties: object = {}) => ({ properties: { name: "apps", ...properties } });
const poolBody = (properties: object = {}) => ({
  properties: {
    name: "workers",
    datacenterId,
    nodeCount: 2,
    coresCount: 2,
    ramSize: 4096,
    availabilityZone: "AUTO",
    storageType: "SSD",
    storageSize: 20,
    ...properties,
  },
});
const newCluster = (properties: object = {}) => platform.made("/k8s", clusterBody(properties));
const newPool = (cluster: string, properties: object = {}) =>
  platform.made(`${cluster}/nodepools`, poolBody(properties));
const stateOf = async (path: string) => resource(await platform.core("GET", path)).metadata.state;
const nodesOf = async (pool: string) => items(await platform.core("GET", `${pool}/nodes?depth=1`));

describe("versions", () => {
  it("are a bare list and a bare default that is in it", async () => {
    const { body: versions } = await platform.core("GET", "/k8s/versions");
    const { body: standard } = await platform.core("GET", "/k8s/versions/default");
    expect(versions).toContain(standard);
  });
});

describe("a cluster", () => {
  it("is DEPLOYING, then ACTIVE, UPDATING while it changes and DESTROYING until it is gone", async () => {
    const accepted = await platform.core("POST", "/k8s", clusterBody());
    expect(accepted).toMatchObject({ status: 202, body: { type: "k8s", metadata: { state: "DEPLOYING" } } });
    const path = `/k8s/${resource(accepted).id}`;
    await platform.advance(2);
    expect(await stateOf(path)).toBe("DEPLOYING");
    refusal(await platform.core("GET", `${path}/kubeconfig`), 422, "200");
    await platform.advance(60);
    expect(await stateOf(path)).toBe("ACTIVE");
    await platform.core("PUT", path, clusterBody({ name: "renamed" }));
    expect(await stateOf(path)).toBe("UPDATING");
    await platform.advance(60);
    expect(await stateOf(path)).toBe("ACTIVE");
    await platform.core("DELETE", path);
    expect(await stateOf(path)).toBe("DESTROYING");
    await platform.advance(60);
    refusal(await platform.core("GET", path), 404, "309");
  });

  it("gets the default version, a maintenance window and a public address", async () => {
    const { properties } = resource(await platform.core("GET", await newCluster()));
    const { body: standard } = await platform.core("GET", "/k8s/versions/default");
    expect(properties).toMatchObject({
      k8sVersion: standard,
      maintenanceWindow: { dayOfTheWeek: expect.any(String), time: expect.any(String) },
      public: true,
      availableUpgradeVersions: expect.any(Array),
      viableNodePoolVersions: expect.arrayContaining([standard]),
    });
  });

  it("is upgraded one minor version at a time and never downgraded", async () => {
    const path = await newCluster({ k8sVersion: "1.31.14" });
    const to = (k8sVersion: string) => platform.core("PUT", path, clusterBody({ k8sVersion }));
    expect(resource(await platform.core("GET", path)).properties.availableUpgradeVersions).toEqual(["1.32.10"]);
    expect(refusal(await to("1.33.6"), 422, "100")).toContain(".k8sVersion]");
    await platform.done("PUT", path, clusterBody({ k8sVersion: "1.32.10" }));
    expect(refusal(await to("1.31.14"), 422, "100")).toContain(".k8sVersion]");
    await platform.done("PUT", path, clusterBody({ name: "same-version" }));
    expect(resource(await platform.core("GET", path)).properties.k8sVersion).toBe("1.32.10");
  });

  it("has a kubeconfig that names it", async () => {
    const path = await newCluster({ name: "named" });
    expect(await platform.core("GET", `${path}/kubeconfig`)).toMatchObject({
      status: 200,
      body: { apiVersion: "v1", kind: "Config", clusters: [{ name: "named" }], "current-context": expect.any(String) },
    });
  });

  it.each([
    ["no name", { name: undefined }, "name"],
    ["a name that ends with a dash", { name: "apps-" }, "name"],
    ["an unknown version", { k8sVersion: "0.1.0" }, "k8sVersion"],
    ["a day that is none", { maintenanceWindow: { dayOfTheWeek: "Someday", time: "03:00:00Z" } }, "maintenanceWindow"],
    ["private without a location", { public: false, natGatewayIp: "203.0.113.7" }, "location"],
    ["private without a NAT gateway", { public: false, location: "de/fra" }, "natGatewayIp"],
    ["an unknown location", { location: "xx/yyy" }, "location"],
  ])("is refused with %s", async (_, properties, field) => {
    const answer = await platform.core("POST", "/k8s", clusterBody(properties));
    expect(refusal(answer, 422, "100")).toContain(`[(root).properties.${field}`);
  });

  it("is refused above the contract's limit", async () => {
    const small = await startPlatform();
    await small.steer("PUT", "limits", { k8sClusterLimitTotal: 1 });
    await small.done("POST", "/k8s", clusterBody());
    expect(refusal(await small.core("POST", "/k8s", clusterBody()), 422, "200")).toContain("k8sClusterLimitTotal");
    await small.close();
  });
});

describe("a node pool", () => {
  it("brings its nodes along: PROVISIONING, then READY", async () => {
    const cluster = await newCluster();
    const accepted = await platform.core("POST", `${cluster}/nodepools`, poolBody());
    expect(accepted).toMatchObject({ status: 202, body: { type: "nodepool", metadata: { state: "DEPLOYING" } } });
    const pool = `${cluster}/nodepools/${resource(accepted).id}`;
    await platform.advance(2);
    const provisioning = { type: "node", metadata: { state: "PROVISIONING" } };
    expect(await nodesOf(pool)).toMatchObject([provisioning, provisioning]);
    await platform.advance(60);
    expect(await stateOf(pool)).toBe("ACTIVE");
    const ready = {
      metadata: { state: "READY" },
      properties: { name: expect.stringContaining("workers-"), publicIP: expect.any(String), k8sVersion: "1.33.6" },
    };
    expect(await nodesOf(pool)).toMatchObject([ready, ready]);
  });

  it("grows and shrinks with nodeCount; the oldest nodes stay", async () => {
    const pool = await newPool(await newCluster());
    const before = (await nodesOf(pool)).map(({ id }) => id);
    await platform.done("PUT", pool, { properties: { nodeCount: 3 } });
    expect((await nodesOf(pool)).map(({ id }) => id)).toEqual([...before, expect.any(String)]);
    await platform.core("PUT", pool, { properties: { nodeCount: 1 } });
    const terminating = { metadata: { state: "TERMINATING" } };
    expect(await nodesOf(pool)).toMatchObject([{ metadata: { state: "READY" } }, terminating, terminating]);
    await platform.advance(60);
    expect((await nodesOf(pool)).map(({ id }) => id)).toEqual(before.slice(0, 1));
    expect(resource(await platform.core("GET", pool)).properties.nodeCount).toBe(1);
  });

  it("keeps its nodes when growing fails", async () => {
    const pool = await newPool(await newCluster());
    await platform.faults({ fault: "request-failed", route: "PUT *", count: 1 });
    const answer = await platform.core("PUT", pool, { properties: { nodeCount: 5 } });
    await platform.advance(60);
    expect(await platform.requestOf(answer)).toMatchObject({ status: "FAILED" });
    expect(await nodesOf(pool)).toHaveLength(2);
    expect(resource(await platform.core("GET", pool)).properties.nodeCount).toBe(2);
  });

  it("replaces and deletes single nodes", async () => {
    const pool = await newPool(await newCluster());
    const [first, second] = (await nodesOf(pool)).map(({ id }) => `${pool}/nodes/${id}`);
    expect(await platform.core("POST", `${first}/replace`)).toMatchObject({ status: 202, body: undefined });
    expect(await stateOf(`${first}`)).toBe("REBUILDING");
    refusal(await platform.core("DELETE", `${first}`), 422, "200");
    await platform.advance(60);
    expect(await stateOf(`${first}`)).toBe("READY");
    await platform.done("DELETE", `${second}`);
    expect(resource(await platform.core("GET", pool)).properties.nodeCount).toBe(1);
  });

  it.each([
    ["an unknown datacenter", { datacenterId: "x" }, "datacenterId"],
    ["no nodes", { nodeCount: 0 }, "nodeCount"],
    ["RAM that is no multiple of 1024", { ramSize: 4097 }, "ramSize"],
    ["an unknown disk", { storageType: "TAPE" }, "storageType"],
    ["a newer version than the cluster", { k8sVersion: "1.34.2" }, "k8sVersion"],
    ["fewer nodes than auto scaling wants", { autoScaling: { minNodeCount: 3, maxNodeCount: 5 } }, "nodeCount"],
    ["auto scaling upside down", { autoScaling: { minNodeCount: 3, maxNodeCount: 1 } }, "autoScaling"],
    ["too few addresses", { publicIps: ["203.0.113.7", "203.0.113.8"] }, "publicIps"],
    ["an unknown taint", { taints: [{ key: "a", effect: "Never" }] }, "taints"],
  ])("is refused with %s", async (_, properties, field) => {
    const answer = await platform.core("POST", `${await newCluster()}/nodepools`, poolBody(properties));
    expect(refusal(answer, 422, "100")).toContain(`[(root).properties.${field}`);
  });

  it("keeps its cluster and its datacenter from being deleted", async () => {
    const cluster = await newCluster();
    const pool = await newPool(cluster);
    expect(refusal(await platform.core("DELETE", cluster), 422, "200")).toContain("workers");
    expect(refusal(await platform.core("DELETE", `/datacenters/${datacenterId}`), 422, "200")).toContain("workers");
    await platform.done("DELETE", pool);
    await platform.done("DELETE", cluster);
  });

  it("waits for its cluster", async () => {
    const cluster = `/k8s/${resource(await platform.core("POST", "/k8s", clusterBody())).id}`;
    await platform.advance(2);
    refusal(await platform.core("POST", `${cluster}/nodepools`, poolBody()), 422, "200");
  });
});
