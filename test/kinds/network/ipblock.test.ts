import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { server } from "../../../src/kinds/compute/server/server.ts";
import { ipBlock } from "../../../src/kinds/network/ipblock.ts";
import { type Platform, resource, serverBody, startPlatform } from "../../simulator/platform.ts";
import { inputs, mapped, nothing, sent } from "../mapped.ts";
import { create, type Resident } from "../resident.ts";

const mapping = mapped(ipBlock);
const spec = { location: "de/txl", size: 2 };
const named = inputs({ parents: {} });
const item = (properties: object = {}) => ({
  id: "block-1",
  properties: {
    name: "web",
    location: "de/txl",
    size: 2,
    ips: ["203.0.113.1", "203.0.113.2"],
    ipConsumers: [],
    ...properties,
  },
});
const compare = (change: object, properties: object = {}, given = named) =>
  mapping.desire({ ...spec, ...change }).compare(item(properties), given);

describe("comparing an IP block", () => {
  it.each([
    ["what the platform fills in", {}],
    ["a block in use", { ipConsumers: [{ ip: "203.0.113.1", nicId: "nic-1" }] }],
    ["a block whose size is told by its addresses alone", { size: null }],
  ])("finds no difference in %s", (_, properties) => {
    expect(compare({}, properties)).toEqual({ drift: [] });
  });

  it("changes its name by PATCH", () => {
    const update = { action: "update", method: "PATCH", path: "/ipblocks/block-1", body: { name: "front" } };
    expect(compare({ name: "front" }).next).toEqual(update);
  });

  it("shows another location or size and does not try to change them", () => {
    expect(compare({ location: "de/fra", size: 3 })).toEqual({
      drift: [
        { field: "location", wanted: "de/fra", found: "de/txl" },
        { field: "size", wanted: "3", found: "2" },
      ],
    });
  });

  it("that is only observed finds no difference where spec has nothing but the identity", () => {
    const observe = mapping.desire({ externalId: "block-1", managementPolicy: "Observe" });
    expect(observe.compare(item({ name: "theirs" }), { ...named, observed: true })).toEqual({ drift: [] });
  });
});

describe("the facts of an IP block", () => {
  it("are its place, its addresses and who uses which of them", () => {
    const use = { ip: "203.0.113.2", mac: "02:01", nicId: "nic-1", serverId: "srv-1", serverName: "web" };
    const consumers = [
      { ...use, datacenterId: "dc-1", k8sNodePoolUuid: null },
      { ip: "203.0.113.1", nicId: null },
    ];
    const facts = mapping.comparison.facts(item({ ipConsumers: consumers }), nothing);
    expect(facts).toEqual({
      location: "de/txl",
      size: 2,
      ips: ["203.0.113.1", "203.0.113.2"],
      addresses: "203.0.113.1,203.0.113.2",
      consumers: [
        { ip: "203.0.113.2", nicId: "nic-1", serverId: "srv-1", serverName: "web", datacenterId: "dc-1" },
        { ip: "203.0.113.1" },
      ],
    });
    expect(ipBlock.status.strict().parse(facts)).toEqual(facts);
  });
});

it("an IP block stays while it is used, and counts as data: nobody can get the same addresses again", () => {
  expect(mapping.destruction).toMatchObject({ keptWhileUsed: true, holdsData: true });
});

describe("an IP block on the platform", () => {
  let platform: Platform;
  let resident: Resident;
  let ips: string[];
  beforeAll(async () => {
    platform = await startPlatform();
    resident = await create(platform, ipBlock, spec, named);
    ({ ips } = z.object({ ips: z.array(z.string()) }).parse(await resident.facts(named)));
  });
  afterAll(() => platform.close());

  it("reserves as many addresses as its size says, and is up to date then", async () => {
    expect(sent(mapping.desire(spec).body(named))).toStrictEqual({
      properties: { name: "web", location: "de/txl", size: 2 },
    });
    expect(new Set(ips).size).toBe(2);
    expect(await resident.settle(spec, named)).toEqual([]);
  });

  it("takes another name, once", async () => {
    expect(await resident.settle({ ...spec, name: "front" }, named)).toEqual(["update"]);
  });

  it("keeps its addresses when the server that used one is deleted, for the next one", async () => {
    const datacenter = await platform.datacenter("de/txl");
    for (const name of ["first", "second"]) {
      const body = serverBody({ name }, {}, { ips: [ips[0]] });
      const { id } = resource(await platform.done("POST", `${datacenter}/servers`, body));
      const facts = { ips, consumers: [{ ip: ips[0], serverId: id, serverName: name }] };
      expect(await resident.facts(named)).toMatchObject(facts);
      await platform.done("DELETE", `${datacenter}/servers/${id}?deleteVolumes=true`);
    }
    expect(await resident.facts(named)).not.toHaveProperty("consumers");
  });

  it("cannot be used in another location, which a Server says before the platform does", async () => {
    const nics = [{ name: "public", lan: 1, ipsFrom: [{ ipBlockRef: { name: "web" } }] }];
    const refs = {
      datacenter: { id: "dc-1", status: { location: "de/fra" } },
      "nics[public].ipsFrom[0]": { id: resident.id, status: await resident.facts(named) },
    };
    const wanted = mapped(server).desire({ datacenterRef: { name: "frankfurt" }, cores: 1, ram: 1024, nics });
    expect(wanted.problem(inputs({ refs }))).toBe(
      "nics[public].ipsFrom[0]: IPBlock web is in de/txl, the datacenter in de/fra: an address can only be used in its own location",
    );
    const elsewhere = await platform.datacenter("de/fra");
    const answer = await platform.core("POST", `${elsewhere}/servers`, serverBody({}, {}, { ips: [ips[0]] }));
    expect(answer.status).toBe(422);
  });
});
