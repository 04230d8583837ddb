import { afterEach, describe, expect, it } from "vitest";
import { items, platformForFile, refusal, resource, serverBody } from "../platform.ts";

const platform = await platformForFile();
const datacenter = await platform.datacenter();
afterEach(() => platform.steer("PUT", "limits", {}));

const group = async (below = datacenter) => {
  const body = { properties: { name: "web" } };
  return resource(await platform.done("POST", `${below}/securitygroups`, body)).id;
};
const post = (properties: object, entities?: object) =>
  platform.core("POST", `${datacenter}/securitygroups`, { properties, ...(entities && { entities }) });
const rule = (properties: object = {}) => ({
  properties: { protocol: "TCP", portRangeStart: 80, portRangeEnd: 80, ...properties },
});
const server = async () => {
  const { id, entities } = resource(await platform.done("POST", `${datacenter}/servers`, serverBody()));
  const path = `${datacenter}/servers/${id}`;
  return { path, id, nic: `${path}/nics/${entities?.nics?.items?.[0]?.id}` };
};
const groupsOf = async (path: string) =>
  resource(await platform.core("GET", `${path}?depth=2`)).entities?.securitygroups?.items?.map(({ id }) => id);

describe("security groups", () => {
  it("are created with their rules in one request, changed and deleted", async () => {
    const answer = await post({ name: "web", description: "d" }, { rules: { items: [rule(), rule({ name: "n" })] } });
    const { id, type, entities } = resource(answer);
    expect(type).toBe("security-group");
    expect(entities?.rules?.items).toMatchObject([{ type: "firewall-rule" }, { properties: { name: "n" } }]);
    await platform.advance(10);
    expect(await platform.requestOf(answer)).toMatchObject({ status: "DONE" });
    const path = `${datacenter}/securitygroups/${id}`;
    await platform.done("PATCH", path, { description: "changed" });
    expect(resource(await platform.core("GET", path)).properties).toEqual({ name: "web", description: "changed" });
    await platform.done("PUT", path, { properties: { name: "put" } });
    expect(resource(await platform.core("GET", path)).properties).toEqual({ name: "put", description: "" });
    await platform.done("DELETE", path);
    refusal(await platform.core("GET", path), 404, "309");
  });

  it.each([
    ["no name", {}, "name"],
    ["a name of 61 characters", { name: "a".repeat(61) }, "name"],
    ["a description of 301 characters", { name: "a", description: "a".repeat(301) }, "description"],
  ])("refuse %s", async (_, properties, field) => {
    expect(refusal(await post(properties), 422, "100")).toContain(`[(root).properties.${field}]`);
  });

  it("are limited per datacenter", async () => {
    const fresh = await platform.datacenter();
    await platform.steer("PUT", "limits", { securityGroupsPerVdc: 1 });
    await group(fresh);
    const answer = await platform.core("POST", `${fresh}/securitygroups`, { properties: { name: "second" } });
    expect(refusal(answer, 422, "200")).toMatch(/^\[VDC-\d+-\d+\] Quota exceeded: .* securityGroupsPerVdc is 1 /);
    const elsewhere = await platform.datacenter();
    expect(await group(elsewhere)).toEqual(expect.any(String));
  });

  it("need the privilege to create them", async () => {
    const { token, userId } = await platform.user("no-groups@example.com", { privileges: [] });
    await platform.share(datacenter, userId);
    const options = { authorization: `Bearer ${token}` };
    const body = { properties: { name: "web" } };
    const answer = await platform.core("POST", `${datacenter}/securitygroups`, body, options);
    expect(refusal(answer, 403, "451")).toContain("createNetworkSecurityGroups");
  });
});

describe("rules of a security group", () => {
  it("have the life and the type of a firewall rule", async () => {
    const path = `${datacenter}/securitygroups/${await group()}/rules`;
    const made = await platform.done("POST", path, rule({ sourceIp: "10.0.0.0/8" }));
    const { id, type, href, properties } = resource(made);
    expect({ type, properties }).toMatchObject({ type: "firewall-rule", properties: { type: "INGRESS" } });
    expect(new URL(href).pathname).toBe(`/cloudapi/v6${path}/${id}`);
    const location = new URL(made.headers.get("location") ?? "");
    expect(await platform.call("GET", location.pathname)).toMatchObject({
      body: { metadata: { targets: [{ target: { id, type: "firewall-rule" } }] } },
    });
    await platform.done("PATCH", `${path}/${id}`, { portRangeEnd: 81 });
    expect(items(await platform.core("GET", `${path}?depth=1`))).toMatchObject([{ properties: { portRangeEnd: 81 } }]);
    refusal(await platform.core("PATCH", `${path}/${id}`, { protocol: "UDP" }), 422, "100");
    await platform.done("DELETE", `${path}/${id}`);
    expect(items(await platform.core("GET", path))).toEqual([]);
  });

  it.each([
    ["no protocol", { protocol: undefined }, "protocol"],
    ["half a port range", { portRangeEnd: undefined }, "portRangeEnd"],
    ["a source that is no address", { sourceIp: "everywhere" }, "sourceIp"],
    ["a target that is no address", { targetIp: "10.0.0.0/33" }, "targetIp"],
    ["a source that is no MAC address", { sourceMac: "aa" }, "sourceMac"],
  ])("refuse %s", async (_, properties, field) => {
    const path = `${datacenter}/securitygroups/${await group()}/rules`;
    const message = refusal(await platform.core("POST", path, rule(properties)), 422, "100");
    expect(message).toContain(`[(root).properties.${field}]`);
  });

  it("are limited per group, also inline", async () => {
    await platform.steer("PUT", "limits", { rulesPerSecurityGroup: 1 });
    const path = `${datacenter}/securitygroups/${await group()}/rules`;
    await platform.done("POST", path, rule());
    expect(refusal(await platform.core("POST", path, rule()), 422, "200")).toContain("rulesPerSecurityGroup is 1");
    const both = await post({ name: "two" }, { rules: { items: [rule(), rule()] } });
    expect(refusal(both, 422, "200")).toContain("rulesPerSecurityGroup is 1");
  });
});

describe("assigning security groups", () => {
  it.each(["server", "nic"] as const)("to a %s replaces the set", async (holder) => {
    const { path, nic } = await server();
    const at = holder === "server" ? path : nic;
    const [first, second] = [await group(), await group()];
    const answer = await platform.core("PUT", `${at}/securitygroups`, { ids: [first, second, first] });
    expect(answer).toMatchObject({ status: 202, body: { type: "collection", items: [{ id: first }, { id: second }] } });
    expect(resource(await platform.core("GET", at)).metadata.state).toBe("BUSY");
    await platform.advance(10);
    expect(await platform.requestOf(answer)).toMatchObject({ status: "DONE" });
    expect(await groupsOf(at)).toEqual([first, second]);
    await platform.done("PUT", `${at}/securitygroups`, { ids: [second] });
    expect(await groupsOf(at)).toEqual([second]);
    await platform.done("PUT", `${at}/securitygroups`, { ids: [] });
    expect(await groupsOf(at)).toEqual([]);
  });

  it("is not followed back and forth, however deep a call reads", async () => {
    const { path } = await server();
    const own = await group();
    await platform.done("POST", `${datacenter}/securitygroups/${own}/rules`, rule());
    await platform.done("PUT", `${path}/securitygroups`, { ids: [own] });
    const { entities } = resource(await platform.core("GET", `${path}?depth=10`));
    expect(entities?.securitygroups?.items).toMatchObject([
      { id: own, entities: { rules: { items: [{ type: "firewall-rule" }] }, servers: { type: "collection" } } },
    ]);
    expect(entities?.securitygroups?.items?.[0]).not.toHaveProperty("entities.servers.items");
  });

  it("ends with the group: server and NIC stay", async () => {
    const { path, nic } = await server();
    const own = await group();
    for (const at of [path, nic]) await platform.done("PUT", `${at}/securitygroups`, { ids: [own] });
    await platform.done("DELETE", `${datacenter}/securitygroups/${own}`);
    expect([await groupsOf(path), await groupsOf(nic)]).toEqual([[], []]);
  });

  it("survives other changes of the NIC and a move to another LAN", async () => {
    const { nic } = await server();
    const own = await group();
    await platform.done("PUT", `${nic}/securitygroups`, { ids: [own] });
    await platform.done("PATCH", nic, { name: "renamed" });
    const { id } = resource(await platform.done("POST", `${datacenter}/lans`, { properties: {} }));
    await platform.done("POST", `${datacenter}/lans/${id}/nics`, { id: nic.split("/").at(-1) });
    expect(await groupsOf(nic)).toEqual([own]);
  });

  it("can happen when the server is created", async () => {
    const own = await group();
    const body = {
      properties: { name: "s", cores: 1, ram: 1024 },
      entities: { securitygroups: { items: [{ id: own }] } },
    };
    const { id } = resource(await platform.done("POST", `${datacenter}/servers`, body));
    expect(await groupsOf(`${datacenter}/servers/${id}`)).toEqual([own]);
  });

  it("is undone when its request fails", async () => {
    const { path } = await server();
    const own = await group();
    await platform.faults({ route: "PUT *", fault: "request-failed", count: 1 });
    const answer = await platform.core("PUT", `${path}/securitygroups`, { ids: [own] });
    await platform.advance(10);
    expect(await platform.requestOf(answer)).toMatchObject({ status: "FAILED" });
    expect(await groupsOf(path)).toEqual([]);
  });

  it("is limited per resource", async () => {
    const { path } = await server();
    const ids = [await group(), await group()];
    await platform.steer("PUT", "limits", { securityGroupsPerResource: 1 });
    const answer = await platform.core("PUT", `${path}/securitygroups`, { ids });
    expect(refusal(answer, 422, "200")).toContain("securityGroupsPerResource is 1");
    await platform.done("PUT", `${path}/securitygroups`, { ids: ids.slice(1) });
  });

  it("refuses groups that are unknown, of another datacenter or BUSY", async () => {
    const { path } = await server();
    const put = (...ids: unknown[]) => platform.core("PUT", `${path}/securitygroups`, { ids });
    expect(refusal(await put(await group(), "x"), 422, "100")).toContain("[(root).ids[1]]");
    const far = await group(await platform.datacenter());
    expect(refusal(await put(far), 422, "100")).toContain(far);
    const busy = await group();
    await platform.core("PATCH", `${datacenter}/securitygroups/${busy}`, { description: "busy" });
    expect(refusal(await put(busy), 422, "200")).toContain("BUSY");
    refusal(await put(1), 422, "100");
    refusal(await platform.core("PUT", `${path}/securitygroups`, {}), 422, "100");
  });

  it("is refused while the server is BUSY", async () => {
    const { path, nic } = await server();
    await platform.core("PATCH", path, { name: "busy" });
    for (const at of [path, nic]) {
      const answer = await platform.core("PUT", `${at}/securitygroups`, { ids: [] });
      expect(refusal(answer, 422, "200")).toContain("BUSY");
    }
    await platform.advance(10);
  });
});

describe("the default security group of a datacenter", () => {
  const defaultOf = async (path: string) =>
    resource(await platform.core("GET", path)).properties.defaultSecurityGroupId;
  const create = () =>
    platform.made("/datacenters", {
      properties: { name: "d", location: "de/fra", createDefaultSecurityGroup: true },
    });

  it("is made together with the datacenter", async () => {
    const path = await create();
    const id = await defaultOf(path);
    expect(items(await platform.core("GET", `${path}/securitygroups?depth=1`))).toMatchObject([
      { id, metadata: { state: "AVAILABLE" }, properties: { name: expect.any(String) } },
    ]);
  });

  it("can be made later, and only once", async () => {
    const path = await platform.datacenter();
    const body = { properties: { name: "d", createDefaultSecurityGroup: true } };
    await platform.done("PUT", path, body);
    const id = await defaultOf(path);
    await platform.done("PUT", path, body);
    expect(await defaultOf(path)).toBe(id);
    expect(items(await platform.core("GET", `${path}/securitygroups`))).toHaveLength(1);
  });

  it("can be chosen among the groups of the datacenter only", async () => {
    const path = await platform.datacenter();
    const own = await group(path);
    await platform.done("PATCH", path, { defaultSecurityGroupId: own });
    expect(await defaultOf(path)).toBe(own);
    const answer = await platform.core("PATCH", path, { defaultSecurityGroupId: await group() });
    expect(refusal(answer, 422, "100")).toContain("[(root).properties.defaultSecurityGroupId]");
  });

  it("cannot be deleted while it is the default", async () => {
    const path = await create();
    const id = await defaultOf(path);
    expect(refusal(await platform.core("DELETE", `${path}/securitygroups/${id}`), 422, "200")).toContain("default");
    await platform.done("PATCH", path, { defaultSecurityGroupId: null });
    await platform.done("DELETE", `${path}/securitygroups/${id}`);
  });

  it.each(["PATCH", "PUT"] as const)(
    "is none after a %s with an empty text, and can then be deleted",
    async (method) => {
      const path = await create();
      const id = await defaultOf(path);
      const change = { name: "d", defaultSecurityGroupId: "" };
      await platform.done(method, path, method === "PUT" ? { properties: change } : change);
      expect(await defaultOf(path)).toBeUndefined();
      await platform.done("DELETE", `${path}/securitygroups/${id}`);
    },
  );
});
