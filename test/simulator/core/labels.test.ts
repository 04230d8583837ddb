import { describe, expect, it } from "vitest";
import { items, platformForFile, refusal, resource, serverBody } from "../platform.ts";

const platform = await platformForFile();
const datacenter = await platform.datacenter();

describe("labels", () => {
  it("are written at once, read by key, changed and deleted", async () => {
    const path = `${datacenter}/labels`;
    const made = await platform.core("POST", path, { properties: { key: "owner", value: "a" } });
    expect(made).toMatchObject({ status: 201, body: { id: "owner", type: "label", properties: { value: "a" } } });
    expect(resource(made).metadata).not.toHaveProperty("state");
    const changed = await platform.core("PUT", `${path}/owner`, { properties: { key: "owner", value: "b" } });
    expect(changed).toMatchObject({ status: 200, body: { properties: { key: "owner", value: "b" } } });
    const urn = `urn:label:datacenter:${datacenter.split("/")[2]}:owner`;
    expect(items(await platform.core("GET", "/labels?depth=1"))).toMatchObject([
      { id: urn, properties: { key: "owner", value: "b", resourceType: "datacenter" } },
    ]);
    expect((await platform.core("GET", `/labels/${urn}`)).status).toBe(200);
    refusal(await platform.core("POST", path, { properties: { key: "owner", value: "c" } }), 422, "100");
    expect((await platform.core("DELETE", `${path}/owner`)).status).toBe(200);
    refusal(await platform.core("GET", `${path}/owner`), 404, "309");
  });

  it("hang on servers and volumes too and go with them", async () => {
    const { id, entities } = resource(await platform.done("POST", `${datacenter}/servers`, serverBody()));
    const path = `${datacenter}/servers/${id}`;
    const volume = `${datacenter}/volumes/${entities?.volumes?.items?.[0]?.id}`;
    for (const each of [path, volume]) {
      const made = await platform.core("POST", `${each}/labels`, { properties: { key: "k", value: "v" } });
      expect(made.status).toBe(201);
    }
    await platform.done("DELETE", `${path}?deleteVolumes=true`);
    expect(items(await platform.core("GET", "/labels"))).toEqual([]);
  });
});
