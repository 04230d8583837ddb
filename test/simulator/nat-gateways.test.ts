import { beforeAll, describe, expect, it } from "vitest";
import { networkOf } from "./network.ts";
import { items, platformForFile, refusal, resource } from "./platform.ts";

const platform = await platformForFile();
const network = networkOf(platform);
const datacenter = await platform.datacenter();

const post = (properties: object) => platform.core("POST", `${datacenter}/natgateways`, { properties });
const made = (path: string, properties: object) => platform.made(path, { properties });
const ready = async (properties: object = {}) =>
  made(`${datacenter}/natgateways`, { name: "out", publicIps: (await network.block()).ips, ...properties });
const read = async (path: string) => resource(await platform.core("GET", path)).properties;

describe("a NAT gateway", () => {
  it("leads LANs to the internet under reserved addresses", async () => {
    const [block, lan] = [await network.block("de/fra", 2), await network.lan(datacenter)];
    const path = await ready({ publicIps: block.ips, lans: [{ id: lan }] });
    expect(resource(await platform.core("GET", path))).toMatchObject({
      type: "natgateway",
      metadata: { state: "AVAILABLE" },
      properties: {
        publicIps: block.ips,
        lans: [{ id: lan, gatewayIps: [expect.stringMatching(/^10\.\d+\.\d+\.\d+\/24$/)] }],
      },
    });
    const shown = await read(path);
    await platform.done("PUT", path, { properties: shown });
    expect(await read(path)).toEqual(shown);
    await platform.done("PATCH", path, { lans: [{ id: lan }] });
    expect(await read(path)).toEqual(shown);
  });

  it("has no LANs unless it is told, and takes addresses in them as they are given", async () => {
    expect((await read(await ready())).lans).toEqual([]);
    const lans = [{ id: await network.lan(datacenter), gatewayIps: ["10.9.0.1/24"] }];
    expect((await read(await ready({ lans }))).lans).toEqual(lans);
  });

  it.each([
    ["no name", { name: undefined }, "name"],
    ["no public addresses", { publicIps: undefined }, "publicIps"],
    ["an empty list of public addresses", { publicIps: [] }, "publicIps"],
    ["a foreign public address", { publicIps: ["203.0.113.7"] }, "publicIps[0]"],
    ["a private address as a public one", { publicIps: ["10.0.0.1"] }, "publicIps[0]"],
    ["a LAN that does not exist", { lans: [{ id: 99 }] }, "lans[0].id"],
    ["a LAN without its number", { lans: [{}] }, "lans[0].id"],
    ["an address without its network", { lans: [{ id: 1, gatewayIps: ["10.1.0.1"] }] }, "lans[0].gatewayIps[0]"],
    ["one LAN twice", { lans: [{ id: 1 }, { id: 1 }] }, "lans[1].id"],
  ])("refuses %s", async (_, properties, field) => {
    const { ips } = await network.block();
    const answer = await post({ name: "out", publicIps: ips, ...properties });
    expect(refusal(answer, 422, "100")).toContain(`[(root).properties.${field}]`);
  });

  it("uses addresses of its location that nothing else uses, and keeps their block", async () => {
    const [here, there] = [await network.block(), await network.block("de/txl")];
    await ready({ publicIps: here.ips });
    expect(refusal(await post({ name: "two", publicIps: here.ips }), 422, "100")).toContain('the NAT gateway "out"');
    expect(refusal(await post({ name: "two", publicIps: there.ips }), 422, "100")).toContain("de/txl");
    const message = refusal(await platform.core("DELETE", `/ipblocks/${here.id}`), 422, "200");
    expect(message).toContain('in use by the NAT gateway "out"');
  });

  it("waits until the block of its addresses is AVAILABLE", async () => {
    const { id, ips } = await network.block();
    await platform.core("DELETE", `/ipblocks/${id}`);
    expect(refusal(await post({ name: "out", publicIps: ips }), 422, "200")).toContain(`ipblock ${id} is BUSY`);
    await platform.advance(10);
  });

  it("counts its addresses among those in use", async () => {
    const inUse = async () => {
      const [contract] = items(await platform.core("GET", "/contracts?depth=1"));
      return JSON.stringify(contract).match(/"reservedIpsInUse":(\d+)/)?.[1];
    };
    const before = Number(await inUse());
    await ready();
    expect(Number(await inUse())).toBe(before + 1);
  });

  it("keeps its LANs from being deleted until it lets go of them", async () => {
    const lan = await network.lan(datacenter);
    const path = await ready({ lans: [{ id: lan }] });
    const message = refusal(await platform.core("DELETE", `${datacenter}/lans/${lan}`), 422, "200");
    expect(message).toContain(`NAT gateway "out" (${path.split("/").at(-1)})`);
    await platform.done("PATCH", path, { lans: [] });
    await platform.done("DELETE", `${datacenter}/lans/${lan}`);
  });

  it("goes with its datacenter", async () => {
    const doomed = await platform.datacenter();
    const { id, ips } = await network.block();
    const path = await made(`${doomed}/natgateways`, { name: "out", publicIps: ips });
    await platform.done("DELETE", doomed);
    refusal(await platform.core("GET", path), 404, "309");
    await platform.done("DELETE", `/ipblocks/${id}`);
  });
});

it("the contract's limit of NAT gateways is kept", async () => {
  await ready();
  const [contract] = items(await platform.core("GET", "/contracts?depth=1"));
  const natGatewayLimitTotal = Number(JSON.stringify(contract).match(/"natGatewayProvisioned":(\d+)/)?.[1]);
  await platform.steer("PUT", "limits", { natGatewayLimitTotal });
  const answer = await post({ name: "more", publicIps: (await network.block()).ips });
  expect(refusal(answer, 422, "200")).toContain(`natGatewayLimitTotal is ${natGatewayLimitTotal} `);
  await platform.steer("PUT", "limits", {});
});

describe("rules of a NAT gateway", () => {
  let gateway: string;
  let publicIp: string;
  beforeAll(async () => {
    const block = await network.block("de/fra", 2);
    publicIp = block.ip;
    gateway = await ready({ publicIps: block.ips });
  });
  const rule = (more: object = {}) => ({ name: "r", sourceSubnet: "10.1.0.0/24", publicIp, ...more });

  it("translate sources for all protocols unless told otherwise", async () => {
    const path = await made(`${gateway}/rules`, rule());
    expect(resource(await platform.core("GET", path))).toMatchObject({
      type: "natgateway-rule",
      properties: { ...rule(), type: "SNAT", protocol: "ALL" },
    });
    await platform.done("PATCH", path, { protocol: "TCP", targetPortRange: { start: 80, end: 443 } });
    const shown = await read(path);
    expect(shown).toMatchObject({ protocol: "TCP", targetPortRange: { start: 80, end: 443 } });
    await platform.done("PUT", path, { properties: shown });
    expect(await read(path)).toEqual(shown);
    await platform.done("DELETE", path);
    expect(items(await platform.core("GET", `${gateway}/rules`))).toEqual([]);
  });

  it.each([
    ["no name", { name: undefined }, "name"],
    ["another type than SNAT", { type: "DNAT" }, "type"],
    ["an unknown protocol", { protocol: "GRE" }, "protocol"],
    ["no source", { sourceSubnet: undefined }, "sourceSubnet"],
    ["a source that is no network", { sourceSubnet: "10.1.0.0" }, "sourceSubnet"],
    ["no public address", { publicIp: undefined }, "publicIp"],
    ["an address that is not the gateway's", { publicIp: "203.0.113.7" }, "publicIp"],
    ["a target that is no network", { targetSubnet: "everything" }, "targetSubnet"],
    ["half a port range", { protocol: "TCP", targetPortRange: { start: 1 } }, "targetPortRange.end"],
    ["port 0", { protocol: "TCP", targetPortRange: { start: 0, end: 1 } }, "targetPortRange.start"],
    ["a range that runs backwards", { protocol: "UDP", targetPortRange: { start: 2, end: 1 } }, "targetPortRange.end"],
    ["ports with ICMP", { protocol: "ICMP", targetPortRange: { start: 1, end: 2 } }, "targetPortRange"],
  ])("refuse %s", async (_, more, field) => {
    const answer = await platform.core("POST", `${gateway}/rules`, { properties: rule(more) });
    expect(refusal(answer, 422, "100")).toContain(`[(root).properties.${field}]`);
  });

  it("keep the address they work on with the gateway", async () => {
    await made(`${gateway}/rules`, rule());
    const { ips } = await network.block();
    const answer = await platform.core("PATCH", gateway, { publicIps: ips });
    expect(refusal(answer, 422, "100")).toContain(`must keep ${publicIp}`);
    await platform.done("PATCH", gateway, { publicIps: [publicIp, ...ips] });
  });
});
