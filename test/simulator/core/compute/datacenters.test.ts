import { describe, expect, it } from "vitest";
import { items, platformForFile, refusal, resource, serverBody } from "../../platform.ts";

const platform = await platformForFile();

const create = (properties: object) => platform.core("POST", "/datacenters", { properties });

describe("creating a datacenter", () => {
  it("is accepted with the new id, BUSY, and the URL of its request", async () => {
    const answer = await create({ name: "prod", location: "de/fra", description: "main" });
    expect(answer.status).toBe(202);
    const { api } = platform.ready.endpoints;
    expect(answer.headers.get("location")).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/cloudapi\/v6\/requests\/[0-9a-f-]{36}\/status$/,
    );
    const body = resource(answer);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      type: "datacenter",
      href: `${api}/cloudapi/v6/datacenters/${body.id}`,
      metadata: { state: "BUSY", createdBy: platform.ready.username },
      properties: { name: "prod", location: "de/fra", description: "main", version: 1 },
    });
    expect(body.entities).toBeUndefined();
  });

  it("cannot be seen at first, then is BUSY, then AVAILABLE", async () => {
    const { id } = resource(await create({ name: "prod", location: "de/fra" }));
    const listed = async () => items(await platform.core("GET", "/datacenters")).some((item) => item.id === id);
    refusal(await platform.core("GET", `/datacenters/${id}`), 404, "309");
    expect(await listed()).toBe(false);
    await platform.advance(1.5);
    expect(resource(await platform.core("GET", `/datacenters/${id}`)).metadata.state).toBe("BUSY");
    expect(await listed()).toBe(true);
    await platform.advance(3);
    expect(resource(await platform.core("GET", `/datacenters/${id}`)).metadata.state).toBe("AVAILABLE");
  });

  it("tells what its location offers", async () => {
    const { properties } = resource(await platform.core("GET", await platform.datacenter("de/txl")));
    expect(properties).toMatchObject({
      features: expect.arrayContaining(["SSD"]),
      cpuArchitecture: expect.arrayContaining([
        { cpuFamily: "INTEL_ICELAKE", maxCores: 62, maxRam: 235520, vendor: "GenuineIntel" },
      ]),
      gpuArchitecture: [],
      ipv6CidrBlock: expect.stringMatching(/::\/56$/),
    });
  });

  it.each([
    ["no name", { location: "de/fra" }, "[(root).properties.name]"],
    ["no location", { name: "a" }, "[(root).properties.location]"],
    ["an unknown location", { name: "a", location: "xx/yyy" }, "[(root).properties.location]"],
    ["a number as name", { name: 7, location: "de/fra" }, "[(root).properties.name]"],
    [
      "two security group settings",
      { name: "a", location: "de/fra", createDefaultSecurityGroup: true, defaultSecurityGroupId: "x" },
      "[(root).properties.createDefaultSecurityGroup]",
    ],
  ])("refuses %s", async (_, properties, path) => {
    expect(refusal(await create(properties), 422, "100")).toContain(path);
  });

  it("ignores read-only and unknown properties", async () => {
    const answer = await create({ name: "a", location: "de/fra", version: 77, colour: "red" });
    expect(resource(answer).properties).toMatchObject({ version: 1 });
    expect(resource(answer).properties).not.toHaveProperty("colour");
  });

  it("can bring LANs, servers and volumes along", async () => {
    const answer = await platform.done("POST", "/datacenters", {
      properties: { name: "all", location: "de/fra" },
      entities: {
        lans: { items: [{ properties: { name: "front", public: true } }] },
        servers: { items: [serverBody()] },
        volumes: { items: [{ properties: { size: 5, licenceType: "OTHER" } }] },
      },
    });
    const { id, entities } = resource(answer);
    expect(entities?.servers?.items).toHaveLength(1);
    const count = async (collection: string) =>
      items(await platform.core("GET", `/datacenters/${id}/${collection}`)).length;
    expect(await Promise.all(["lans", "servers", "volumes"].map(count))).toEqual([1, 1, 2]);
  });
});

describe("changing a datacenter", () => {
  it.each([
    ["PATCH", { name: "renamed" }],
    ["PUT", { properties: { name: "renamed" } }],
  ])("by %s is BUSY with the new values until its request is DONE, and counts its version up", async (method, body) => {
    const path = await platform.datacenter();
    const answer = await platform.core(method, path, body);
    expect(answer).toMatchObject({
      status: 202,
      body: { metadata: { state: "BUSY" }, properties: { name: "renamed", version: 2 } },
    });
    await platform.advance(5);
    expect(await platform.core("GET", path)).toMatchObject({
      body: { metadata: { state: "AVAILABLE" }, properties: { name: "renamed", location: "de/fra" } },
    });
  });

  it("takes the properties of a PATCH wrapped as well", async () => {
    const path = await platform.datacenter();
    await platform.done("PATCH", path, { properties: { description: "wrapped" } });
    expect(resource(await platform.core("GET", path)).properties.description).toBe("wrapped");
  });

  it("by PUT needs the required properties and resets the others", async () => {
    const path = await platform.datacenter();
    await platform.done("PATCH", path, { description: "text" });
    expect(refusal(await platform.core("PUT", path, { properties: {} }), 422, "100")).toContain(".name]");
    await platform.done("PUT", path, { properties: { name: "put" } });
    expect(resource(await platform.core("GET", path)).properties).toMatchObject({
      name: "put",
      description: "",
      location: "de/fra",
    });
  });

  it("never moves it: another location is refused, the same one is not", async () => {
    const path = await platform.datacenter();
    const message = refusal(await platform.core("PATCH", path, { location: "de/txl" }), 422, "100");
    expect(message).toContain("[(root).properties.location]");
    expect((await platform.core("PATCH", path, { location: "de/fra" })).status).toBe(202);
  });

  it("is refused while it is BUSY, as are its deletion and children", async () => {
    const path = await platform.datacenter();
    await platform.core("PATCH", path, { name: "busy" });
    refusal(await platform.core("PATCH", path, { name: "again" }), 422, "200");
    refusal(await platform.core("DELETE", path), 422, "200");
    refusal(await platform.core("POST", `${path}/servers`, serverBody()), 422, "200");
  });

  it("notes who changed it", async () => {
    const path = await platform.datacenter();
    const { token, userId } = await platform.user("editor@example.org");
    await platform.share(path, userId);
    await platform.core("PATCH", path, { name: "edited" }, { authorization: `Bearer ${token}` });
    expect(resource(await platform.core("GET", path)).metadata).toMatchObject({
      createdBy: platform.ready.username,
      lastModifiedBy: "editor@example.org",
      lastModifiedByUserId: userId,
    });
  });
});

describe("deleting a datacenter", () => {
  it("is accepted without a body, shows it BUSY, and removes it with everything in it", async () => {
    const path = await platform.datacenter();
    const server = resource(await platform.done("POST", `${path}/servers`, serverBody()));
    const answer = await platform.core("DELETE", path);
    expect(answer).toMatchObject({ status: 202, body: undefined });
    expect(resource(await platform.core("GET", path)).metadata.state).toBe("BUSY");
    await platform.advance(5);
    expect(await platform.requestOf(answer)).toMatchObject({ status: "DONE" });
    refusal(await platform.core("GET", path), 404, "309");
    refusal(await platform.core("GET", `${path}/servers/${server.id}`), 404, "309");
    const state = JSON.stringify(await platform.steer("GET", "state"));
    expect(state).not.toContain(`"datacenterId": "${path.split("/")[2]}"`);
  });

  it("lets requests that were still running inside it end as FAILED", async () => {
    const path = await platform.datacenter();
    const creation = await platform.core("POST", `${path}/servers`, serverBody());
    await platform.core("DELETE", path);
    await platform.advance(60);
    expect(await platform.requestOf(creation)).toMatchObject({
      status: "FAILED",
      message: expect.stringMatching(/^\[VDC-/),
    });
  });
});

it("a datacenter shows its Network Load Balancers and NAT gateways, but not its Application Load Balancers", async () => {
  const { entities } = resource(await platform.core("GET", `${await platform.datacenter()}?depth=1`));
  expect(Object.keys(entities ?? {})).toEqual(
    expect.arrayContaining(["servers", "volumes", "lans", "loadbalancers", "networkloadbalancers", "natgateways"]),
  );
  expect(entities).not.toHaveProperty("applicationloadbalancers");
});
