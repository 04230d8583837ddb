import { afterEach, describe, expect, it } from "vitest";
import { serviceFor } from "../pipelines.ts";
import { type Answer, items, platformForFile, refusal, resource } from "../platform.ts";
import { groupBody, scalerFor } from "../scaling.ts";

const platform = await platformForFile();
const datacenter = await platform.datacenter();
afterEach(() => platform.faults());

const idsIn = (answer: Answer) => items(answer).map(({ id }) => id);
const list = async (path: string) => idsIn(await platform.call("GET", path));

describe("accepted-not-done", () => {
  const lie = { fault: "accepted-not-done" };

  it.each(["PATCH", "PUT"])("a %s is accepted, its request is DONE, and nothing has changed", async (method) => {
    const path = await platform.datacenter();
    const before = resource(await platform.core("GET", path));
    await platform.faults(lie);
    const properties = { name: "renamed", location: "de/fra" };
    const answer = await platform.core(method, path, method === "PUT" ? { properties } : { name: "renamed" });
    expect(answer).toMatchObject({ status: 202, body: { properties: { name: "renamed" } } });
    expect(await platform.requestOf(answer)).toMatchObject({ status: "BUSY" });
    expect(resource(await platform.core("GET", path))).toMatchObject({
      metadata: { state: "BUSY" },
      properties: before.properties,
    });
    await platform.advance(60);
    expect(await platform.requestOf(answer)).toMatchObject({ status: "DONE" });
    const after = resource(await platform.core("GET", path));
    const { etag: _, ...stamps } = before.metadata;
    expect(after).toMatchObject({ properties: before.properties, metadata: stamps });
    await platform.faults();
    await platform.done("PATCH", path, { name: "renamed" });
    expect(resource(await platform.core("GET", path)).properties.name).toBe("renamed");
  });

  it("parts that the change would have added or removed stay unchanged", async () => {
    const cluster = await platform.made("/k8s", { properties: { name: "apps" } });
    const pool = await platform.made(`${cluster}/nodepools`, {
      properties: {
        name: "workers",
        datacenterId: datacenter.split("/").at(-1),
        nodeCount: 2,
        coresCount: 2,
        ramSize: 4096,
        availabilityZone: "AUTO",
        storageType: "SSD",
        storageSize: 20,
      },
    });
    const nodes = () => list(`/cloudapi/v6${pool}/nodes`);
    const before = await nodes();
    expect(before).toHaveLength(2);
    await platform.faults(lie);
    for (const nodeCount of [1, 3]) {
      await platform.done("PUT", pool, { properties: { nodeCount } });
      expect(await nodes()).toEqual(before);
    }
  });

  it("a change that is refused is refused as ever, and other calls do as they say", async () => {
    await platform.faults({ ...lie, count: 1 });
    const path = await platform.datacenter();
    refusal(await platform.core("PATCH", path, { location: "de/txl" }), 422, "100");
    await platform.done("PATCH", path, { name: "for good" });
    expect(resource(await platform.core("GET", path)).properties.name).toBe("for good");
  });

  it("is the same for the products without requests", async () => {
    const pipeline = `/logging/de-txl${(await serviceFor(platform, "logging").made()).path}`;
    const group = await scalerFor(platform).group(groupBody(datacenter, { minReplicaCount: 1 }));
    const writes: [string, string, object][] = [
      ["PATCH", pipeline, { properties: { name: "renamed" } }],
      ["PUT", group, groupBody(datacenter, { name: "renamed", minReplicaCount: 2 })],
    ];
    await platform.faults(lie);
    for (const [method, path, body] of writes) {
      const before = (await platform.call("GET", path)).body;
      expect(await platform.call(method, path, body), path).toMatchObject({
        status: 200,
        body: { properties: { name: "renamed" } },
      });
      await platform.advance(60);
      expect((await platform.call("GET", path)).body).toEqual(before);
    }
    expect(await scalerFor(platform).count(group)).toBe(1);
  });
});
