import { describe, expect, it } from "vitest";
import { server } from "../../../../src/kinds/compute/server/server.ts";
import { inputs, mapped, nothing } from "../../mapped.ts";

const mapping = mapped(server);
const spec = {
  datacenterRef: { name: "berlin" },
  name: "web",
  cores: 4,
  ram: 4096,
  bootVolume: { size: 20, type: "HDD", imageAlias: "ubuntu:latest" },
  nics: [{ name: "public", lan: 1 }],
};
const properties = { name: "web", cores: 4, ram: 4096, vmState: "RUNNING", bootVolume: { id: "vol-1" } };
const compare = (item: unknown) => mapping.desire(spec).compare(item, inputs());

describe("an answer that says less than asked for", () => {
  it.each([
    ["no entities", undefined],
    ["null for entities", null],
    ["empty entities", {}],
    ["null for the children", { volumes: null, nics: null }],
    [
      "children as references only",
      { volumes: { id: "v", type: "collection" }, nics: { id: "n", type: "collection" } },
    ],
    ["null for the lists", { volumes: { items: null }, nics: { items: null } }],
    ["children without properties", { volumes: { items: [{ id: "vol-1" }] }, nics: { items: [{ id: "nic-1" }] } }],
    [
      "children with null for properties",
      { volumes: { items: [{ id: "vol-1", properties: null }] }, nics: { items: [{ id: "nic-1", properties: null }] } },
    ],
  ])("%s: nothing is taken for missing, and nothing is written", (_, entities) => {
    expect(compare({ id: "srv-1", properties, entities })).toEqual({ drift: [] });
  });

  it("null for every property: what spec wants is sent again", () => {
    const blank = { name: null, cores: null, ram: null, cpuFamily: null, vmState: null, bootVolume: null };
    expect(compare({ id: "srv-1", properties: blank }).next).toEqual({
      action: "update",
      method: "PATCH",
      path: "/datacenters/dc-1/servers/srv-1",
      body: { name: "web", cores: 4, ram: 4096 },
    });
  });

  it("fields that nobody knows are let through", () => {
    expect(compare({ id: "srv-1", properties: { ...properties, hologram: {} }, metadata: 7 })).toEqual({ drift: [] });
  });

  it.each([
    ["nothing", undefined],
    ["null", null],
    ["a list", []],
    ["no id", { properties }],
    ["no properties", { id: "srv-1" }],
    ["null for properties", { id: "srv-1", properties: null }],
    ["cores as text", { id: "srv-1", properties: { ...properties, cores: "four" } }],
    ["a volume without an id", { id: "srv-1", properties, entities: { volumes: { items: [{ properties: {} }] } } }],
  ])("%s: not understood", (_, item) => {
    expect(() => compare(item)).toThrow();
    expect(() => mapping.comparison.facts(item, nothing)).toThrow();
  });
});

describe("the facts of a server", () => {
  const entities = {
    volumes: {
      items: [
        { id: "data-1", properties: { name: "data", size: 100, deviceNumber: 2, type: "HDD" } },
        { id: "data-2" },
        { id: "vol-1", properties: { size: 20, deviceNumber: 1 } },
      ],
    },
    nics: {
      items: [
        {
          id: "nic-1",
          properties: { name: "public", lan: 1, mac: "02:01:00:00:00:01", ips: ["10.0.0.7"], dhcp: true },
        },
        { id: "nic-2", properties: { name: null, lan: 2, ips: [] } },
        { id: "nic-3", properties: null },
      ],
    },
  };
  const item = { id: "srv-1", properties: { ...properties, cpuFamily: "AMD_EPYC" }, entities };
  const facts = mapping.comparison.facts(item, nothing);

  it("are the machine's state and size, its boot volume, what else is attached, and its NICs", () => {
    expect(facts).toEqual({
      vmState: "RUNNING",
      cores: 4,
      ram: 4096,
      cpuFamily: "AMD_EPYC",
      ips: ["10.0.0.7"],
      addresses: "10.0.0.7",
      bootVolumeId: "vol-1",
      volumes: [{ id: "data-1", name: "data", size: 100, deviceNumber: 2 }, { id: "data-2" }],
      nics: [
        { id: "nic-1", name: "public", lan: 1, mac: "02:01:00:00:00:01", ips: ["10.0.0.7"] },
        { id: "nic-2", lan: 2 },
        { id: "nic-3" },
      ],
    });
  });

  it("fit into status", () => {
    expect(server.status.strict().parse(facts)).toEqual(facts);
  });

  it("leave out what the platform does not say", () => {
    expect(mapping.comparison.facts({ id: "srv-1", properties: { vmState: null } }, nothing)).toEqual({});
  });
});
