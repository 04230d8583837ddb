import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lan } from "../../../src/kinds/network/lan.ts";
import { type Platform, startPlatform } from "../../simulator/platform.ts";
import { inputs, mapped, nothing, sent } from "../mapped.ts";
import { create, type Resident } from "../resident.ts";

const mapping = mapped(lan);
const spec = { datacenterRef: { name: "berlin" } };
const item = (properties: object = {}) => ({
  id: "7",
  properties: {
    name: "web",
    public: false,
    pcc: null,
    ipFailover: [],
    ipv4CidrBlock: "10.7.0.0/16",
    ipv6CidrBlock: null,
    ...properties,
  },
});
const compare = (change: object, properties: object = {}, given = inputs()) =>
  mapping.desire({ ...spec, ...change }).compare(item(properties), given);

describe("the body that creates a LAN", () => {
  it("says private and the object's name where spec says nothing", () => {
    expect(sent(mapping.desire(spec).body(inputs()))).toStrictEqual({ properties: { name: "web", public: false } });
  });

  it("says everything that spec says", () => {
    expect(sent(mapping.desire({ ...spec, name: "front", public: true, ipv6: "AUTO" }).body(inputs()))).toStrictEqual({
      properties: { name: "front", public: true, ipv6CidrBlock: "AUTO" },
    });
  });

  it("goes to the LANs of its datacenter", () => {
    expect(mapping.place.collection({ datacenter: "dc-1" })).toBe("/datacenters/dc-1/lans");
    expect(mapping.desire(spec).references).toEqual([
      { role: "datacenter", kind: "Datacenter", field: "datacenterRef", target: { name: "berlin" } },
    ]);
  });

  it.each(["fd00::/56", "10.0.0.0/64", "auto", "fd00::1::/64"])("is not made with the block %s", (ipv6) => {
    expect(() => mapping.desire({ ...spec, ipv6 })).toThrow("must be AUTO or a /64 block");
  });
});

describe("comparing a LAN", () => {
  const block = "fd00:2000:0:107::/64";

  it.each([
    ["what the platform fills in", {}, {}],
    ["one that somebody made public, while spec does not say", {}, { public: true, ipv4CidrBlock: null }],
    ["the block that the platform chose for AUTO", { ipv6: "AUTO" }, { ipv6CidrBlock: block }],
    ["its block in another spelling", { ipv6: "FD00:2000:0000:0107:0::/64" }, { ipv6CidrBlock: block }],
    ["a block that spec does not speak of", {}, { ipv6CidrBlock: block }],
  ])("finds no difference in %s", (_, change, properties) => {
    expect(compare(change, properties)).toEqual({ drift: [] });
  });

  it.each([
    ["its name", { name: "front" }, {}, { name: "front" }],
    ["whether it is public", { public: true }, {}, { public: true }],
    ["whether it is private", { public: false }, { public: true }, { public: false }],
    ["a first block", { ipv6: "AUTO" }, {}, { ipv6CidrBlock: "AUTO" }],
    ["another block", { ipv6: "fd00::/64" }, { ipv6CidrBlock: block }, { ipv6CidrBlock: "fd00::/64" }],
  ])("changes %s by PATCH, and nothing else", (_, change, properties, body) => {
    const path = "/datacenters/dc-1/lans/7";
    expect(compare(change, properties).next).toEqual({ action: "update", method: "PATCH", path, body });
  });

  it("that is only observed finds no difference where spec has nothing but the identity", () => {
    const given = inputs({ observed: true });
    const change = { externalId: "7", managementPolicy: "Observe" };
    expect(compare(change, { name: "somebody's", public: true }, given)).toEqual({ drift: [] });
  });
});

describe("the facts of a LAN", () => {
  it.each([
    [{}, { public: false, ipv4CidrBlock: "10.7.0.0/16" }],
    [
      { public: true, ipv4CidrBlock: null, ipv6CidrBlock: "fd00::/64" },
      { public: true, ipv6CidrBlock: "fd00::/64" },
    ],
  ])("of %j are %j, and fit into status", (properties, facts) => {
    expect(mapping.comparison.facts(item(properties), nothing)).toEqual(facts);
    expect(lan.status.strict().parse(facts)).toEqual(facts);
  });
});

it("a LAN is not deleted while something uses it: the platform refuses to delete one with NICs", () => {
  expect(mapping.destruction.keptWhileUsed).toBe(true);
});

describe("a LAN on the platform", () => {
  let platform: Platform;
  let resident: Resident;
  let given = inputs();
  beforeAll(async () => {
    platform = await startPlatform();
    given = inputs({ parents: { datacenter: (await platform.datacenter("de/txl")).split("/")[2] ?? "" } });
    resident = await create(platform, lan, spec, given);
  });
  afterAll(() => platform.close());

  it("is up to date once it is there; its id is its number", async () => {
    expect(resident.id).toBe("1");
    expect(await resident.settle(spec, given)).toEqual([]);
    expect(await resident.facts(given)).toEqual({ public: false, ipv4CidrBlock: "10.1.0.0/16" });
  });

  it.each([
    ["another name", { name: "front" }],
    ["public", { name: "front", public: true }],
    ["an IPv6 block that the platform chooses", { name: "front", ipv6: "AUTO" }],
    ["an IPv6 block of one's own", { name: "front", ipv6: "FD00:2000:0:FF::/64" }],
  ])("takes %s, once", async (_, change) => {
    expect(await resident.settle({ ...spec, ...change }, given)).toEqual(["update"]);
  });
});
