import { describe, expect, it } from "vitest";
import { z } from "zod";
import { items, platformForFile, refusal, resource } from "../platform.ts";
import { groupBody, groups, idOf, scalerFor } from "../scaling.ts";

const platform = await platformForFile();
const scaler = scalerFor(platform);
const datacenter = await platform.datacenter();
const group = await scaler.group(groupBody(datacenter, { name: "read", minReplicaCount: 1 }));

describe("reading", () => {
  const own = { metadata: { state: "AVAILABLE" }, properties: { name: "read" } };

  it("shows by depth first the group, then its collections, then what is in them", async () => {
    const at = async (depth: number) => (await platform.call("GET", `${group}?depth=${depth}`)).body;
    expect(await at(0)).toMatchObject(own);
    expect(await at(0)).not.toHaveProperty("entities");
    expect(await at(1)).toMatchObject({
      ...own,
      entities: { actions: { type: "collection" }, servers: { type: "collection" } },
    });
    expect(await at(1)).not.toHaveProperty("entities.servers.items");
    expect(await at(2)).toMatchObject({
      ...own,
      entities: {
        actions: { items: [{ type: "action", properties: { actionType: "SCALE_OUT" } }] },
        servers: { items: [{ type: "server", properties: { name: expect.stringMatching(/^read-/) } }] },
      },
    });
  });

  it("lists references, and items from depth 1 on", async () => {
    const id = idOf(group);
    const at = async (depth: number) =>
      items(await platform.call("GET", `${groups}?depth=${depth}`)).find((each) => each.id === id);
    const reference = { id, type: "autoscaling-group", href: `${platform.ready.endpoints.api}${group}` };
    expect(await at(0)).toEqual(reference);
    expect(await at(1)).toMatchObject({ ...reference, ...own, entities: { servers: { type: "collection" } } });
    expect(await at(1)).not.toHaveProperty("entities.servers.items");
    expect(await at(2)).toHaveProperty("entities.servers.items");
    refusal(await platform.call("GET", `${groups}?depth=11`), 422, "100");
  });

  it("orders by a property", async () => {
    await scaler.group(groupBody(datacenter, { name: "aaa" }));
    const names = items(await platform.call("GET", `${groups}?depth=1&orderBy=name`)).map(
      (each) => z.object({ name: z.string() }).parse(each.properties).name,
    );
    expect(names).toEqual([...names].sort());
    expect(names[0]).toBe("aaa");
  });

  it("finds actions and replicas by their own ids only", async () => {
    const [replica] = await scaler.replicas(group);
    const [action] = items(await platform.call("GET", `${group}/actions`));
    expect(await platform.call("GET", `${group}/servers/${replica?.id}`)).toMatchObject({ status: 200, body: replica });
    expect(await platform.call("GET", `${group}/actions/${action?.id}`)).toMatchObject({
      status: 200,
      body: { ...action, properties: { actionStatus: "SUCCESSFUL", actionType: "SCALE_OUT" } },
    });
    const { name, datacenterServer } = replica?.properties ?? {};
    for (const wrong of [name, datacenterServer?.id]) {
      refusal(await platform.call("GET", `${group}/servers/${wrong}`), 404, "309");
    }
    refusal(await platform.call("GET", `${groups}/none`), 404, "309");
    refusal(await platform.call("GET", `${groups}/none/actions`), 404, "309");
  });

  it("works below both bases and names the early access one", async () => {
    const alias = group.replace("/v1.ea", "");
    for (const path of ["", "/actions", "/servers"]) {
      const [first, second] = [await platform.call("GET", group + path), await platform.call("GET", alias + path)];
      expect(first.status).toBe(200);
      expect(second.body).toEqual(first.body);
    }
    const made = await platform.call("POST", "/autoscaling/groups", groupBody(datacenter));
    expect(made.status).toBe(201);
    expect(resource(made).href).toContain("/autoscaling/v1.ea/groups/");
  });

  it("needs credentials", async () => {
    refusal(await platform.call("GET", groups, undefined, { authorization: null }), 401, "315");
  });

  it("is part of the steering state", async () => {
    expect(await platform.steer("GET", "state")).toMatchObject({
      groups: expect.arrayContaining([expect.objectContaining({ id: idOf(group), name: "read", state: "AVAILABLE" })]),
    });
  });
});
