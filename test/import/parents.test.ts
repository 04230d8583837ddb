import { describe, expect, it } from "vitest";
import { pathsOf } from "../../src/diagnostics/landscape/paths.ts";
import { manifestsFor } from "../../src/import/manifests.ts";
import { readLandscape } from "../../src/import/resources.ts";
import { asJson } from "../../src/kinds/fields/compare.ts";
import { kinds } from "../../src/kinds/index.ts";
import { hasResource } from "../../src/kinds/kind.ts";
import { Forbidden, Unauthorized } from "../../src/platform/answers/errors.ts";
import { platform } from "./platform.ts";

const NAT = "22222222-2222-4222-8222-222222222222";
const quiet = { signal: new AbortController().signal, progress: () => {} };
const everything = { kinds: undefined, datacenters: undefined };

const item = (id: string, more: object = {}) => ({ id, properties: { name: id }, metadata: {}, ...more });
const idsOf = (found: { kind: { kind: string }; id: string }[], kind: string) =>
  found.filter((each) => each.kind.kind === kind).map(({ id }) => id);

describe("the parents of a kind", () => {
  it("follow from the path of its collection, for every kind", () => {
    for (const { resource } of kinds.filter(hasResource)) expect(pathsOf(resource.place)).not.toEqual([]);
  });

  it("are all that can have one: a FlowLog is in a NIC, a load balancer or a NAT gateway", () => {
    const flowLog = kinds.filter(hasResource).find(({ kind }) => kind === "FlowLog");
    expect(flowLog && pathsOf(flowLog.resource.place).sort()).toEqual([
      "/datacenters/~datacenter/applicationloadbalancers/~applicationLoadBalancerId/flowlogs",
      "/datacenters/~datacenter/natgateways/~natGatewayId/flowlogs",
      "/datacenters/~datacenter/networkloadbalancers/~networkLoadBalancerId/flowlogs",
      "/datacenters/~datacenter/servers/~server/nics/~nic/flowlogs",
    ]);
  });

  it("need no list of names: any path does", () => {
    const collection = ({ zone = "", network = "" }: Readonly<Record<string, string>>) =>
      `/zones/${zone}/networks/${network}/peers`;
    expect(pathsOf({ collection })).toEqual(["/zones/~zone/networks/~network/peers"]);
  });
});

describe("an import", () => {
  const nics = { nics: { items: [item("nic-1")] } };
  const collections = {
    "/datacenters": [item("dc-1")],
    "/datacenters/dc-1/servers": [item("server-1", { entities: nics })],
    "/datacenters/dc-1/servers/server-1/nics/nic-1/flowlogs": [item("of-nic")],
    "/datacenters/dc-1/natgateways": [item(NAT)],
    [`/datacenters/dc-1/natgateways/${NAT}/flowlogs`]: [item("of-nat")],
    "/clusters": [item("stream")],
    "/clusters/stream/topics": [item("orders")],
  };

  it("reads the resources in every parent, also in one that is no kind", async () => {
    const reader = platform(collections);
    const { resources } = await readLandscape(reader, everything, quiet);
    expect(idsOf(resources, "FlowLog").sort()).toEqual(["of-nat", "of-nic"]);
    expect(idsOf(resources, "KafkaTopic")).toEqual(["orders"]);
    expect(new Set(reader.asked).size).toBe(reader.asked.length);
    expect(reader.asked.join()).not.toContain("/nics?");
  });

  it("does not ask for what the list of servers shows to be empty", async () => {
    const nic = (id: string, flowlogs: object) => item(id, { entities: { flowlogs } });
    const servers = ["none", "some", "unsaid"].map((id) => {
      const shown = { none: { items: [] }, some: { items: [{ id: "of-nic" }] }, unsaid: { id: "flowlogs" } }[id];
      return item(`server-${id}`, { entities: { nics: { items: [nic(`nic-${id}`, shown ?? {})] } } });
    });
    const reader = platform({
      "/datacenters": [item("dc-1")],
      "/datacenters/dc-1/servers": servers,
      "/datacenters/dc-1/servers/server-some/nics/nic-some/flowlogs": [item("of-nic")],
      "/datacenters/dc-1/servers/server-unsaid/nics/nic-unsaid/flowlogs": [item("unsaid")],
    });
    const { resources } = await readLandscape(reader, everything, quiet);
    expect(idsOf(resources, "FlowLog")).toEqual(["of-nic", "unsaid"]);
    expect(reader.asked.filter((url) => url.includes("/nics/nic-none/flowlogs"))).toEqual([]);
  });

  it("names that parent in spec", async () => {
    const { resources } = await readLandscape(platform(collections), everything, quiet);
    const objects = manifestsFor(resources, { namespace: undefined, accountRef: undefined });
    const spec = asJson(objects.find(({ resource }) => resource.id === "of-nat")?.object.spec);
    expect(spec).toMatchObject({ natGatewayId: NAT, datacenterRef: { name: "dc-1" } });
    expect(spec).not.toHaveProperty("serverId");
  });

  it("says which parents it could not read, and reads the others", async () => {
    const refused = new Forbidden({ call: "GET", status: 403, detail: "not allowed" });
    const reader = platform({ ...collections, "/datacenters/dc-1/natgateways": refused, "/clusters": refused });
    const { resources, left } = await readLandscape(reader, everything, quiet);
    expect(idsOf(resources, "FlowLog")).toEqual(["of-nic"]);
    const why = expect.stringContaining("not allowed");
    expect(left).toContainEqual({ what: "KafkaCluster", why });
    expect(left).toContainEqual({ what: "KafkaTopic", why: expect.stringContaining("it is in a KafkaCluster") });
    expect(left).toContainEqual({ what: "FlowLog in natgateways", why });
  });

  it("of which nothing can be read fails with the reason", async () => {
    const refused = () => Promise.reject(new Unauthorized({ call: "GET /x", status: 401, detail: "wrong token" }));
    const reader = { ...platform({}), read: refused };
    await expect(readLandscape(reader, everything, quiet)).rejects.toThrow(/nothing could be read: .*wrong token/);
  });
});
