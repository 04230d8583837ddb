import { describe, expect, it } from "vitest";
import { applicationRule } from "./balancer-rules.ts";
import { networkOf } from "./network.ts";
import { items, platformForFile, refusal, resource } from "./platform.ts";

const platform = await platformForFile();

const group = (more: object = {}) => ({ name: "web", algorithm: "ROUND_ROBIN", protocol: "HTTP", ...more });
const post = (more: object) => platform.core("POST", "/targetgroups", { properties: group(more) });
const ready = (more: object = {}) => platform.made("/targetgroups", { properties: group(more) });
const read = async (path: string) => resource(await platform.core("GET", path)).properties;
const target = (more: object = {}) => ({ targets: [{ ip: "10.0.0.7", port: 80, weight: 10, ...more }] });
const check = (more: object = {}) => ({ httpHealthCheck: { matchType: "STATUS_CODE", response: "200", ...more } });

describe("a target group", () => {
  it("belongs to no datacenter and fills in the platform's defaults", async () => {
    const path = await ready({ ...target(), ...check() });
    expect(resource(await platform.core("GET", path))).toMatchObject({
      type: "target-group",
      metadata: { state: "AVAILABLE" },
      properties: {
        targets: [{ weight: 10, proxyProtocol: "none", healthCheckEnabled: true, maintenanceEnabled: false }],
        healthCheck: { checkInterval: 2000, retries: 3 },
        httpHealthCheck: { path: "/", regex: false, negate: false },
      },
    });
    expect(items(await platform.core("GET", "/targetgroups"))).toMatchObject([{ type: "target-group" }]);
  });

  it("may be empty", async () => {
    expect(await read(await ready())).toMatchObject({ targets: [] });
  });

  it("is changed and deleted", async () => {
    const path = await ready();
    await platform.done("PATCH", path, { ...target(), protocolVersion: "HTTP2" });
    const shown = await read(path);
    expect(shown).toMatchObject({ protocolVersion: "HTTP2", ...target() });
    await platform.done("PUT", path, { properties: shown });
    expect(await read(path)).toEqual(shown);
    await platform.done("DELETE", path);
    refusal(await platform.core("GET", path), 404, "309");
  });

  it.each([
    ["no name", { name: undefined }, "name"],
    ["no algorithm", { algorithm: undefined }, "algorithm"],
    ["an unknown algorithm", { algorithm: "FASTEST" }, "algorithm"],
    ["no protocol", { protocol: undefined }, "protocol"],
    ["another protocol than HTTP", { protocol: "TCP" }, "protocol"],
    ["an unknown protocol version", { protocolVersion: "HTTP3" }, "protocolVersion"],
    ["a target without address", target({ ip: undefined }), "targets[0].ip"],
    ["a target without port", target({ port: undefined }), "targets[0].port"],
    ["a target without weight", target({ weight: undefined }), "targets[0].weight"],
    ["the weight 257", target({ weight: 257 }), "targets[0].weight"],
    ["port 65536", target({ port: 65_536 }), "targets[0].port"],
    ["an unknown proxy protocol", target({ proxyProtocol: "v3" }), "targets[0].proxyProtocol"],
    ["retries as text", { healthCheck: { retries: "3" } }, "healthCheck.retries"],
    ["a check without a match type", check({ matchType: undefined }), "httpHealthCheck.matchType"],
    ["a check without a response", check({ response: undefined }), "httpHealthCheck.response"],
    ["a check by DELETE", check({ method: "DELETE" }), "httpHealthCheck.method"],
  ])("refuses %s", async (_, more, field) => {
    expect(refusal(await post(more), 422, "100")).toContain(`[(root).properties.${field}]`);
  });

  it("cannot be deleted while a rule forwards to it", async () => {
    const path = await ready();
    const datacenter = await platform.datacenter();
    const lans = await networkOf(platform).lans(datacenter);
    const balancer = await platform.made(`${datacenter}/applicationloadbalancers`, {
      properties: { name: "lb", ...lans, ips: ["10.1.0.5"] },
    });
    const httpRules = [{ name: "r", type: "FORWARD", targetGroup: path.split("/").at(-1) }];
    const properties = applicationRule({ name: "entry", httpRules });
    const rule = await platform.made(`${balancer}/forwardingrules`, { properties });
    expect(refusal(await platform.core("DELETE", path), 422, "200")).toContain('The forwarding rule "entry"');
    await platform.done("PATCH", rule, { httpRules: [] });
    await platform.done("DELETE", path);
  });
});
