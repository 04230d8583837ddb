import { describe, expect, it } from "vitest";
import { items, platformForFile, refusal, resource, serverBody } from "../platform.ts";

const platform = await platformForFile();
const datacenter = await platform.datacenter();
const server = await platform.made(`${datacenter}/servers`, serverBody());

const nic = () => platform.made(`${server}/nics`, { properties: { lan: 1 } });
const flowLog = (properties: object = {}) => ({
  properties: { name: "traffic", action: "ALL", direction: "BIDIRECTIONAL", bucket: "flow-logs", ...properties },
});
const post = async (properties: object) => platform.core("POST", `${await nic()}/flowlogs`, flowLog(properties));

describe("creating a flow log", () => {
  it("is asynchronous like everything else and shows below its NIC", async () => {
    const at = await nic();
    const answer = await platform.core("POST", `${at}/flowlogs`, flowLog());
    expect(answer).toMatchObject({
      status: 202,
      body: { type: "flow-log", metadata: { state: "BUSY" }, properties: flowLog().properties },
    });
    await platform.advance(10);
    expect(await platform.requestOf(answer)).toMatchObject({ status: "DONE" });
    const { id } = resource(answer);
    expect(resource(await platform.core("GET", `${at}/flowlogs/${id}`)).metadata.state).toBe("AVAILABLE");
    expect(resource(await platform.core("GET", `${at}?depth=2`)).entities?.flowlogs?.items).toMatchObject([{ id }]);
  });

  it.each([
    ["ACCEPTED", "ACCEPTED"],
    ["REJECTED", "REJECTED"],
    ["ALL", "ALL"],
    ["ANY", "ALL"],
  ])("captures %s as %s", async (action, stored) => {
    expect(resource(await post({ action })).properties.action).toBe(stored);
  });

  it.each(["INGRESS", "EGRESS", "BIDIRECTIONAL"])("captures the direction %s", async (direction) => {
    expect((await post({ direction })).status).toBe(202);
  });

  it("takes a prefix for the objects behind the name of the bucket", async () => {
    expect(resource(await post({ bucket: "flow-logs/prod/web" })).properties.bucket).toBe("flow-logs/prod/web");
  });

  it.each([
    ["no name", { name: undefined }, "name"],
    ["an empty name", { name: "" }, "name"],
    ["no action", { action: undefined }, "action"],
    ["an unknown action", { action: "DROPPED" }, "action"],
    ["no direction", { direction: undefined }, "direction"],
    ["an unknown direction", { direction: "BOTH" }, "direction"],
    ["no bucket", { bucket: undefined }, "bucket"],
    ["a bucket of two characters", { bucket: "ab" }, "bucket"],
    ["a bucket of 64 characters", { bucket: "a".repeat(64) }, "bucket"],
    ["a bucket with capitals", { bucket: "Logs" }, "bucket"],
    ["a bucket with an underscore", { bucket: "flow_logs" }, "bucket"],
    ["a bucket that starts with -", { bucket: "-logs" }, "bucket"],
    ["a bucket with two dots in a row", { bucket: "flow..logs" }, "bucket"],
    ["a bucket that looks like an address", { bucket: "192.168.0.1" }, "bucket"],
    ["an empty prefix", { bucket: "flow-logs/" }, "bucket"],
  ])("refuses %s", async (_, properties, field) => {
    expect(refusal(await post(properties), 422, "100")).toContain(`[(root).properties.${field}]`);
  });

  it("is refused a second time on the same NIC, naming the first, until that is deleted", async () => {
    const at = await nic();
    const { id } = resource(await platform.done("POST", `${at}/flowlogs`, flowLog({ name: "the-first" })));
    const second = () => platform.core("POST", `${at}/flowlogs`, flowLog({ name: "the-second" }));
    expect(refusal(await second(), 422, "200")).toContain("the-first");
    await platform.done("DELETE", `${at}/flowlogs/${id}`);
    expect(items(await platform.core("GET", `${at}/flowlogs`))).toEqual([]);
    expect((await second()).status).toBe(202);
  });

  it("needs the privilege to create flow logs", async () => {
    const { token, userId } = await platform.user("no-flow-logs@example.com", { privileges: [] });
    const options = { authorization: `Bearer ${token}` };
    const at = await nic();
    await platform.share(at, userId);
    const answer = await platform.core("POST", `${at}/flowlogs`, flowLog(), options);
    expect(refusal(answer, 403, "451")).toContain("Create Flow logs");
  });

  it("is refused while the NIC is BUSY", async () => {
    const at = await nic();
    await platform.core("PATCH", at, { name: "busy" });
    expect(refusal(await platform.core("POST", `${at}/flowlogs`, flowLog()), 422, "200")).toContain("BUSY");
  });

  it("can happen together with the NIC", async () => {
    const body = { properties: { lan: 1 }, entities: { flowlogs: { items: [flowLog()] } } };
    const { entities } = resource(await platform.done("POST", `${server}/nics`, body));
    expect(entities?.flowlogs?.items).toMatchObject([{ type: "flow-log", properties: { name: "traffic" } }]);
    const two = { ...body, entities: { flowlogs: { items: [flowLog(), flowLog()] } } };
    expect(refusal(await platform.core("POST", `${server}/nics`, two), 422, "200")).toContain("already");
  });
});

it.each([
  ["PUT", flowLog({ name: "other" })],
  ["PUT", flowLog()],
  ["PATCH", { name: "other" }],
])("%s on a flow log is refused and names the way out", async (method, body) => {
  const at = await nic();
  const { id } = resource(await platform.done("POST", `${at}/flowlogs`, flowLog()));
  const message = refusal(await platform.core(method, `${at}/flowlogs/${id}`, body), 422, "200");
  expect(message).toContain("cannot be changed: delete it and create a new one");
  expect(resource(await platform.core("GET", `${at}/flowlogs/${id}`)).properties).toEqual(flowLog().properties);
});

it("a flow log goes with its NIC", async () => {
  const at = await nic();
  const { id } = resource(await platform.done("POST", `${at}/flowlogs`, flowLog()));
  await platform.done("DELETE", at);
  refusal(await platform.core("GET", `${at}/flowlogs/${id}`), 404, "309");
});

describe("below load balancers and NAT gateways", () => {
  const balancer = { name: "b", listenerLan: 1, targetLan: 2 };
  it.each([
    ["networkloadbalancers", async () => balancer],
    ["applicationloadbalancers", async () => balancer],
    [
      "natgateways",
      async () => {
        const block = { properties: { location: "de/fra", size: 1 } };
        const { ips } = resource(await platform.done("POST", "/ipblocks", block)).properties;
        return { name: "n", publicIps: ips };
      },
    ],
  ])("%s have one flow log each, too", async (collection, properties) => {
    const place = await platform.datacenter();
    for (const name of ["listener", "target"]) await platform.done("POST", `${place}/lans`, { properties: { name } });
    const body = { properties: await properties() };
    const at = await platform.made(`${place}/${collection}`, body);
    const { id } = resource(await platform.done("POST", `${at}/flowlogs`, flowLog()));
    expect(items(await platform.core("GET", `${at}/flowlogs`))).toMatchObject([{ id, type: "flow-log" }]);
    expect(refusal(await platform.core("POST", `${at}/flowlogs`, flowLog()), 422, "200")).toContain("traffic");
    refusal(await platform.core("PATCH", `${at}/flowlogs/${id}`, { name: "x" }), 422, "200");
    await platform.done("DELETE", `${at}/flowlogs/${id}`);
  });
});
