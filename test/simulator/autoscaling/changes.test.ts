import { describe, expect, it } from "vitest";
import { items, platformForFile, refusal, resource } from "../platform.ts";
import { groupBody, groups, groupsIn, scalerFor } from "../scaling.ts";

const platform = await platformForFile();
const scaler = scalerFor(platform);
const datacenter = await platform.datacenter();
const { group, put } = groupsIn(platform, datacenter);

describe("changing a group", () => {
  it("takes all properties and shows them at once", async () => {
    const path = await group();
    const { metadata } = await scaler.read(path);
    const answer = await put(path, { name: "renamed", maxReplicaCount: 200 });
    expect(answer).toMatchObject({ status: 200, body: { properties: { name: "renamed", maxReplicaCount: 200 } } });
    expect((await scaler.read(path)).metadata.etag).not.toBe(metadata.etag);
  });

  it.each(["datacenter", "name", "minReplicaCount", "maxReplicaCount", "policy", "replicaConfiguration"])(
    "is refused without %s",
    async (property) => {
      const answer = await put(await group(), { [property]: undefined });
      expect(refusal(answer, 422, "100")).toBe(`[(root).properties.${property}] is required`);
    },
  );

  it("allows up to 200 replicas, but no other datacenter", async () => {
    const path = await group();
    expect(refusal(await put(path, { maxReplicaCount: 201 }), 422, "100")).toContain("maxReplicaCount]");
    const other = await platform.datacenter();
    const moved = await platform.call("PUT", path, groupBody(other));
    expect(refusal(moved, 422, "100")).toContain("datacenter.id] can be set at creation only");
  });
});

describe("a PUT", () => {
  it("that raises the minimum or lowers the maximum leads to an action at once, whatever the cooldown", async () => {
    const path = await group();
    await put(path, { minReplicaCount: 4 });
    expect(await scaler.stateOf(path)).toBe("BUSY");
    await platform.advance(15);
    expect(await scaler.count(path)).toBe(4);
    await put(path, { minReplicaCount: 1, maxReplicaCount: 3 });
    expect(await scaler.stateOf(path)).toBe("BUSY");
    await platform.advance(15);
    expect(await scaler.count(path)).toBe(3);
    const types = (await scaler.actions(path)).map(({ properties }) => properties.actionType);
    expect(types).toEqual(["SCALE_OUT", "SCALE_OUT", "SCALE_IN"]);
  });

  it("while an action runs takes effect when that has ended", async () => {
    const answer = await platform.call("POST", groups, groupBody(datacenter));
    const path = `${groups}/${resource(answer).id}`;
    await put(path, { minReplicaCount: 3 });
    expect(await scaler.actions(path)).toHaveLength(1);
    await platform.advance(30);
    expect(await scaler.count(path)).toBe(3);
  });

  it("of the replica configuration touches new replicas only", async () => {
    const path = await group({ name: "mixed" });
    await put(path, { name: "mixed", minReplicaCount: 3 }, { replica: { cores: 7 } });
    await platform.advance(15);
    const cores = [];
    for (const { properties } of await scaler.replicas(path)) {
      const server = await platform.core("GET", `${datacenter}/servers/${properties.datacenterServer.id}`);
      cores.push(resource(server).properties.cores);
    }
    expect(cores).toEqual([2, 2, 7]);
  });
});

describe("deleting a group", () => {
  it("removes the replicas with their volumes, and stays to be seen until they have gone", async () => {
    const own = await platform.datacenter();
    const path = await scaler.group(groupBody(own, {}, { scaleIn: { deleteVolumes: false } }));
    expect(await scaler.servers(own)).toHaveLength(2);
    expect(await platform.call("DELETE", path)).toMatchObject({ status: 204, body: undefined });
    expect(await scaler.stateOf(path)).toBe("BUSY");
    expect(refusal(await platform.call("PUT", path, groupBody(own)), 422, "200")).toContain("being deleted");
    await platform.advance(10);
    refusal(await platform.call("GET", path), 404, "309");
    refusal(await platform.call("GET", `${path}/actions`), 404, "309");
    expect(await scaler.servers(own)).toEqual([]);
    expect(items(await platform.core("GET", `${own}/volumes`))).toEqual([]);
  });

  it("stops a group that is still growing and removes what it has made", async () => {
    const own = await platform.datacenter();
    const { id } = resource(await platform.call("POST", groups, groupBody(own, { minReplicaCount: 5 })));
    expect((await platform.call("DELETE", `${groups}/${id}`)).status).toBe(204);
    await platform.advance(40);
    refusal(await platform.call("GET", `${groups}/${id}`), 404, "309");
    expect(await scaler.servers(own)).toEqual([]);
  });

  it("happens by itself when the datacenter is deleted", async () => {
    const own = await platform.datacenter();
    const path = await scaler.group(groupBody(own));
    await platform.done("DELETE", own);
    refusal(await platform.call("GET", path), 404, "309");
  });
});
