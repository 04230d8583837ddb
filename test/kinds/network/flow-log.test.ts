import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { server } from "../../../src/kinds/compute/server/server.ts";
import type { Inputs } from "../../../src/kinds/desired.ts";
import { flowLog } from "../../../src/kinds/network/flow-log.ts";
import { networkOf } from "../../simulator/network.ts";
import { type Platform, refusal, resource, serverBody, startPlatform } from "../../simulator/platform.ts";
import { inputs, mapped, nothing, sent } from "../mapped.ts";
import { create } from "../resident.ts";

const mapping = mapped(flowLog);
const what = { action: "Rejected", direction: "Ingress", bucket: "flow-logs" };
const spec = { serverRef: { name: "web" }, nic: "public", ...what };
const someId = "72e73b81-8551-4e74-b398-fc63b39994af";
const item = (properties: object = {}) => ({
  id: "log-1",
  properties: { name: "web", action: "REJECTED", direction: "INGRESS", bucket: "flow-logs", ...properties },
});
const compare = (change: object, properties: object = {}) =>
  mapping.desire({ ...spec, ...change }).compare(item(properties), inputs());

describe("the target of a flow log", () => {
  const shown = { parents: { datacenter: "dc-1" }, nics: [{ id: "nic-0" }, { id: "nic-1", name: "public" }] };

  it("is a NIC of a Server, by its name", () => {
    const { references } = mapping.desire(spec);
    expect(references.map(({ role, kind, field }) => ({ role, kind, field }))).toEqual([
      { role: "datacenter", kind: "Server", field: "serverRef" },
      { role: "server", kind: "Server", field: "serverRef" },
      { role: "nic", kind: "Server", field: "nic" },
    ]);
    const [datacenter, , nic] = references;
    expect(datacenter?.part?.of(shown)).toBe("dc-1");
    expect(nic?.part?.of(shown)).toBe("nic-1");
    expect(nic?.part).toMatchObject({ what: "NIC public" });
  });

  it("is not known while the Server does not show the NIC", () => {
    const nic = mapping.desire({ ...spec, nic: "other" }).references.at(-1);
    expect([nic?.part?.of(shown), nic?.part?.of({})]).toEqual([undefined, undefined]);
  });

  it("is a NIC by its ids, which is judged by the Server that has it", () => {
    const [serverId, nicId] = [someId, someId.replace("72", "27")];
    const { references } = mapping.desire({ ...what, datacenterId: someId, serverId, nicId });
    expect(references).toMatchObject([
      { role: "datacenter", target: { id: someId } },
      { role: "server", kind: "Server", target: { id: serverId } },
      { role: "nic", target: { id: nicId, part: { kind: "Server" } } },
    ]);
    const target = references.at(-1)?.target;
    const isIn = target && "id" in target ? target.part?.isIn : undefined;
    expect(isIn?.({ parents: { datacenter: "dc-1" }, nics: [{ id: nicId }] })).toBe(true);
    expect(isIn?.(shown)).toBe(false);
    expect(mapping.place.collection({ datacenter: "dc-1", server: "s", nic: "n" })).toBe(
      "/datacenters/dc-1/servers/s/nics/n/flowlogs",
    );
  });

  it.each([
    ["networkLoadBalancerId", "networkloadbalancers"],
    ["applicationLoadBalancerId", "applicationloadbalancers"],
    ["natGatewayId", "natgateways"],
  ])("is the resource behind %s", (role, collection) => {
    const { references } = mapping.desire({ ...what, datacenterRef: { name: "berlin" }, [role]: someId });
    expect(references).toMatchObject([
      { role: "datacenter", kind: "Datacenter", target: { name: "berlin" } },
      { role, target: { id: someId } },
    ]);
    expect(mapping.place.collection({ datacenter: "dc-1", [role]: "x" })).toBe(
      `/datacenters/dc-1/${collection}/x/flowlogs`,
    );
  });

  it("has one flow log at most", () => {
    expect(mapping.identity.onePer).toBe("NIC, load balancer or NAT gateway");
  });
});

describe("the traffic that a flow log records", () => {
  it.each([
    ["Accepted", "Ingress", "ACCEPTED", "INGRESS"],
    ["Rejected", "Egress", "REJECTED", "EGRESS"],
    ["Any", "Bidirectional", "ALL", "BIDIRECTIONAL"],
  ])("%s and %s are %s and %s to the platform", (action, direction, theirAction, theirDirection) => {
    const body = sent(mapping.desire({ ...spec, action, direction }).body(inputs()));
    expect(body).toStrictEqual({
      properties: { name: "web", action: theirAction, direction: theirDirection, bucket: "flow-logs" },
    });
    expect(compare({ action, direction }, { action: theirAction, direction: theirDirection })).toEqual({ drift: [] });
  });

  it("never changes: every difference is shown, and none is written", () => {
    const change = { name: "other", action: "Any", direction: "Egress", bucket: "flow-logs/web" };
    expect(compare(change)).toEqual({
      drift: [
        { field: "name", wanted: "other", found: "web" },
        { field: "action", wanted: "Any", found: "Rejected" },
        { field: "direction", wanted: "Egress", found: "Ingress" },
        { field: "bucket", wanted: "flow-logs/web", found: "flow-logs" },
      ],
    });
    const never = Object.keys(flowLog.spec.shape).filter((field) => !(field in flowLog.immutable));
    expect(never).toEqual([
      "accountRef",
      "externalId",
      "managementPolicy",
      "replacePolicy",
      "recreatePolicy",
      "deletionPolicy",
    ]);
  });

  it("is not compared with what spec of an observed one does not say", () => {
    const observe = mapping.desire({
      serverRef: { name: "web" },
      nic: "public",
      externalId: "log-1",
      managementPolicy: "Observe",
    });
    expect(observe.compare(item({ name: "theirs" }), inputs({ observed: true }))).toEqual({ drift: [] });
  });

  it.each(["flow-logs/..", "flow-logs/../other", "flow-logs/./a", "flow-logs/a/../../b/", "flow-logs//.."])(
    "does not leave its prefix: %j",
    (bucket) => {
      expect(() => mapping.desire({ ...spec, bucket })).toThrow("must not have a folder named '.' or '..'");
    },
  );

  it.each(["flow-logs/.a/..b/c..", "flow-logs/...", "flow-logs/a.b/"])("goes to %j", (bucket) => {
    expect(() => mapping.desire({ ...spec, bucket })).not.toThrow();
  });

  it.each(["Flow-Logs", "ab", "flow logs", "flow-logs/", "-flow", "flow-logs/a b"])("does not go to %j", (bucket) => {
    expect(() => mapping.desire({ ...spec, bucket })).toThrow("must be the name of a bucket");
  });
});

it("the facts of a flow log are what it records, and fit into status", () => {
  const facts = mapping.comparison.facts(item(), nothing);
  expect(facts).toEqual({ action: "Rejected", direction: "Ingress", bucket: "flow-logs" });
  expect(flowLog.status.strict().parse(facts)).toEqual(facts);
  expect(mapping.comparison.facts(item({ bucket: null }), nothing)).not.toHaveProperty("bucket");
});

describe("on the platform", () => {
  let platform: Platform;
  let datacenter: string;
  const within = (parents: object): Inputs =>
    inputs({ parents: { datacenter: datacenter.split("/")[2] ?? "", ...parents } });
  beforeAll(async () => {
    platform = await startPlatform();
    datacenter = await platform.datacenter("de/fra");
  });
  afterAll(() => platform.close());

  it("a flow log of a NIC is up to date once it is there, and there cannot be a second one", async () => {
    const body = serverBody({}, {}, { name: "public" });
    const { id } = resource(await platform.done("POST", `${datacenter}/servers`, body));
    const seen = (await platform.core("GET", `${datacenter}/servers/${id}?depth=3`)).body;
    const status = { ...mapped(server).comparison.facts(seen, nothing), parents: {} };
    const nic = mapping
      .desire(spec)
      .references.at(-1)
      ?.part?.of({ ...status, parents: { datacenter: "dc" } });
    const given = within({ server: id, nic });
    const resident = await create(platform, flowLog, spec, given);
    expect(await resident.settle(spec, given)).toEqual([]);
    const second = await platform.core(
      "POST",
      mapping.place.collection(given.parents),
      mapping.desire(spec).body(given),
    );
    expect(refusal(second, 422, "200")).toContain("has the flow log web already");
    const path = `${mapping.place.collection(given.parents)}/${resident.id}`;
    expect((await platform.core("PATCH", path, { name: "other" })).status).toBe(422);
  });

  it("a flow log of each gateway is up to date once it is there", async () => {
    const network = networkOf(platform);
    const [listenerLan, targetLan] = [await network.lan(datacenter), await network.lan(datacenter)];
    const { ip } = await network.block("de/fra");
    const balancer = { name: "lb", listenerLan, targetLan };
    const gateways = [
      ["networkLoadBalancerId", "networkloadbalancers", balancer],
      ["applicationLoadBalancerId", "applicationloadbalancers", balancer],
      ["natGatewayId", "natgateways", { name: "out", publicIps: [ip] }],
    ] as const;
    for (const [role, collection, properties] of gateways) {
      const { id } = resource(await platform.done("POST", `${datacenter}/${collection}`, { properties }));
      const wanted = { ...what, datacenterRef: { name: "frankfurt" }, [role]: id, action: "Any" };
      const resident = await create(platform, flowLog, wanted, within({ [role]: id }));
      expect(await resident.settle(wanted, within({ [role]: id }))).toEqual([]);
    }
  });
});
