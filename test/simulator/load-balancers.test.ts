import { describe, expect, it } from "vitest";
import { z } from "zod";
import { applicationRule, networkRule } from "./balancer-rules.ts";
import { networkOf } from "./network.ts";
import { items, platformForFile, refusal, resource, startPlatform } from "./platform.ts";

const platform = await platformForFile();
const network = networkOf(platform);
const datacenter = await platform.datacenter();
const lans = await network.lans(datacenter);

const properties = (more: object = {}) => ({ name: "lb", ...lans, ips: ["10.1.0.5"], ...more });
const made = (path: string, more: object) => platform.made(path, { properties: more });
const read = async (path: string) => resource(await platform.core("GET", path)).properties;

const stateShape = z.looseObject({ forwardingrules: z.array(z.looseObject({ id: z.string() })) });
const ruleIds = async () => stateShape.parse(await platform.steer("GET", "state")).forwardingrules.map(({ id }) => id);

describe.each([
  ["a Network Load Balancer", "networkloadbalancer", networkRule],
  ["an Application Load Balancer", "applicationloadbalancer", applicationRule],
])("%s", (_, type, rule) => {
  const collection = `${type}s`;
  const post = (more: object) => platform.core("POST", `${datacenter}/${collection}`, { properties: more });
  const ready = (more: object = {}) => made(`${datacenter}/${collection}`, properties(more));

  it("is created between two LANs, with an address in the target LAN from the platform", async () => {
    const path = await ready();
    expect(resource(await platform.core("GET", path))).toMatchObject({
      type,
      metadata: { state: "AVAILABLE" },
      properties: {
        ...properties(),
        lbPrivateIps: [expect.stringMatching(/^10\.2\.\d+\.\d+\/24$/)],
        centralLogging: false,
      },
    });
    expect(items(await platform.core("GET", `${datacenter}/${collection}`))).toMatchObject([{ id: expect.anything() }]);
  });

  it.each([
    ["no name", { name: undefined }, "name"],
    ["an empty name", { name: "" }, "name"],
    ["no listener LAN", { listenerLan: undefined }, "listenerLan"],
    ["no target LAN", { targetLan: undefined }, "targetLan"],
    ["a listener LAN that does not exist", { listenerLan: 99 }, "listenerLan"],
    ["a target LAN that does not exist", { targetLan: 99 }, "targetLan"],
    ["one LAN on both sides", { targetLan: 1 }, "targetLan"],
    ["something that is no address", { ips: ["10.1.0"] }, "ips[0]"],
    ["a foreign public address", { ips: ["203.0.113.7"] }, "ips[0]"],
    ["a private address without its network", { lbPrivateIps: ["10.2.0.9"] }, "lbPrivateIps[0]"],
    ["central logging as text", { centralLogging: "yes" }, "centralLogging"],
  ])("refuses %s", async (_, more, field) => {
    expect(refusal(await post(properties(more)), 422, "100")).toContain(`[(root).properties.${field}]`);
  });

  it("waits until its LANs are AVAILABLE", async () => {
    const busy = resource(await platform.core("POST", `${datacenter}/lans`, { properties: {} }));
    const early = await post(properties({ targetLan: Number(busy.id) }));
    expect(refusal(early, 422, "200")).toContain(`lan ${busy.id} is BUSY`);
    await platform.advance(10);
    expect((await post(properties({ targetLan: Number(busy.id) }))).status).toBe(202);
    await platform.advance(20);
  });

  it("can be changed while one of its LANs is BUSY", async () => {
    const path = await ready();
    await platform.core("PATCH", `${datacenter}/lans/${lans.targetLan}`, { name: "renamed" });
    await platform.done("PATCH", path, { name: "changed" });
    expect((await read(path)).name).toBe("changed");
  });

  it("uses reserved addresses of its location that nothing else uses", async () => {
    const [here, there] = [await network.block("de/fra", 2), await network.block("de/txl")];
    await ready({ ips: [here.ip] });
    expect(refusal(await post(properties({ ips: here.ips })), 422, "100")).toContain("in use by the");
    expect(refusal(await post(properties({ ips: there.ips })), 422, "100")).toContain("de/txl");
    const message = refusal(await platform.core("DELETE", `/ipblocks/${here.id}`), 422, "200");
    expect(message).toMatch(new RegExp(`${here.ip} is in use by the .*Load Balancer "lb"`));
    await platform.done("DELETE", `/ipblocks/${there.id}`);
  });

  it("moves to another target LAN with a new address there, and keeps it otherwise", async () => {
    const path = await ready();
    const { lbPrivateIps } = await read(path);
    await platform.done("PUT", path, { properties: properties({ name: "put" }) });
    expect(await read(path)).toMatchObject({ name: "put", lbPrivateIps });
    const targetLan = await network.lan(datacenter);
    await platform.done("PATCH", path, { targetLan });
    const moved = await read(path);
    expect(moved.lbPrivateIps).toEqual([expect.stringContaining(`10.${targetLan}.`)]);
    await platform.done("PUT", path, { properties: moved });
    expect(await read(path)).toEqual(moved);
  });

  it("keeps its LANs from being deleted", async () => {
    const own = await network.lans(datacenter);
    const path = await ready(own);
    for (const lan of Object.values(own)) {
      const message = refusal(await platform.core("DELETE", `${datacenter}/lans/${lan}`), 422, "200");
      expect(message).toContain(`[${collection}] Cannot delete lan`);
      expect(message).toContain(path.split("/").at(-1));
    }
    await platform.done("DELETE", path);
    for (const lan of Object.values(own)) await platform.done("DELETE", `${datacenter}/lans/${lan}`);
  });

  it("goes with its datacenter, its rules included, and frees its address", async () => {
    const doomed = await platform.datacenter();
    const { id, ip } = await network.block();
    const own = { ...(await network.lans(doomed)), ips: [ip] };
    const path = await made(`${doomed}/${collection}`, properties(own));
    const one = await made(`${path}/forwardingrules`, rule({ listenerIp: ip }));
    expect(await ruleIds()).toContain(one.split("/").at(-1));
    await platform.done("DELETE", doomed);
    refusal(await platform.core("GET", path), 404, "309");
    expect(await ruleIds()).not.toContain(one.split("/").at(-1));
    await platform.done("DELETE", `/ipblocks/${id}`);
  });

  it("is created with its LANs and rules in one body", async () => {
    const whole = await platform.core("POST", "/datacenters", {
      properties: { name: "whole", location: "de/fra" },
      entities: {
        lans: { items: [{ properties: {} }, { properties: {} }] },
        [collection]: {
          items: [{ properties: properties(), entities: { forwardingrules: { items: [{ properties: rule() }] } } }],
        },
      },
    });
    expect(whole.status).toBe(202);
    await platform.advance(60);
    const [only] = items(await platform.core("GET", `/datacenters/${resource(whole).id}/${collection}?depth=3`));
    expect(only).toMatchObject({ entities: { forwardingrules: { items: [{ type: "forwarding-rule" }] } } });
  });

  describe("has forwarding rules that", () => {
    it("are of the type forwarding-rule and are listed, read, changed and deleted below it", async () => {
      const path = await ready();
      const one = await made(`${path}/forwardingrules`, rule());
      expect(resource(await platform.core("GET", one))).toMatchObject({
        type: "forwarding-rule",
        properties: rule(),
      });
      expect(items(await platform.core("GET", `${path}/forwardingrules`))).toMatchObject([{ type: "forwarding-rule" }]);
      await platform.done("PATCH", one, { listenerPort: 443 });
      const shown = await read(one);
      expect(shown.listenerPort).toBe(443);
      await platform.done("PUT", one, { properties: shown });
      expect(await read(one)).toEqual(shown);
      await platform.done("DELETE", one);
      expect(items(await platform.core("GET", `${path}/forwardingrules`))).toEqual([]);
    });

    it("tell their wire type in requests and refusals too", async () => {
      const path = await ready();
      const answer = await platform.core("POST", `${path}/forwardingrules`, { properties: rule() });
      await platform.advance(1);
      const { pathname } = new URL(answer.headers.get("location") ?? "");
      expect((await platform.call("GET", pathname)).body).toMatchObject({
        metadata: { targets: [{ target: { type: "forwarding-rule" } }] },
      });
      const busy = await platform.core("DELETE", `${path}/forwardingrules/${resource(answer).id}`);
      expect(refusal(busy, 422, "200")).toContain("The forwarding-rule ");
      await platform.advance(10);
    });

    it("listen on an address of the load balancer, which then keeps it", async () => {
      const path = await ready({ ips: ["10.1.0.5", "10.1.0.6"] });
      const wrong = await platform.core("POST", `${path}/forwardingrules`, {
        properties: rule({ listenerIp: "10.1.0.9" }),
      });
      expect(refusal(wrong, 422, "100")).toContain("[(root).properties.listenerIp]");
      await made(`${path}/forwardingrules`, rule());
      await platform.done("PATCH", path, { ips: ["10.1.0.5"] });
      expect(refusal(await platform.core("PATCH", path, { ips: ["10.1.0.6"] }), 422, "100")).toContain("10.1.0.5");
    });

    it.each([
      ["no name", { name: undefined }, "name"],
      ["an unknown protocol", { protocol: "UDP" }, "protocol"],
      ["no protocol", { protocol: undefined }, "protocol"],
      ["no listener address", { listenerIp: undefined }, "listenerIp"],
      ["no listener port", { listenerPort: undefined }, "listenerPort"],
      ["port 0", { listenerPort: 0 }, "listenerPort"],
      ["port 65536", { listenerPort: 65_536 }, "listenerPort"],
    ])("refuse %s", async (_, more, field) => {
      const answer = await platform.core("POST", `${await ready()}/forwardingrules`, { properties: rule(more) });
      expect(refusal(answer, 422, "100")).toContain(`[(root).properties.${field}]`);
    });
  });
});

it("a datacenter shows its Network Load Balancers and NAT gateways, but not its Application Load Balancers", async () => {
  const { entities } = resource(await platform.core("GET", `${datacenter}?depth=1`));
  expect(Object.keys(entities ?? {})).toEqual(
    expect.arrayContaining(["servers", "volumes", "lans", "loadbalancers", "networkloadbalancers", "natgateways"]),
  );
  expect(entities).not.toHaveProperty("applicationloadbalancers");
});

describe("the contract's limit", () => {
  it("counts Network Load Balancers and refuses one more, but no Application Load Balancer", async () => {
    const limited = await startPlatform();
    try {
      const at = await limited.datacenter();
      const own = { name: "lb", ...(await networkOf(limited).lans(at)) };
      await limited.steer("PUT", "limits", { nlbLimitTotal: 1 });
      await limited.done("POST", `${at}/networkloadbalancers`, { properties: own });
      const second = await limited.core("POST", `${at}/networkloadbalancers`, { properties: own });
      expect(refusal(second, 422, "200")).toMatch(/Quota exceeded.*nlbLimitTotal is 1 /);
      for (const _ of [1, 2]) await limited.done("POST", `${at}/applicationloadbalancers`, { properties: own });
      expect(items(await limited.core("GET", "/contracts?depth=1"))).toMatchObject([
        { properties: { resourceLimits: { nlbLimitTotal: 1, nlbProvisioned: 1 } } },
      ]);
    } finally {
      await limited.close();
    }
  });
});
