import { describe, expect, it } from "vitest";
import { server } from "../../../../src/kinds/compute/server/server.ts";
import type { Inputs } from "../../../../src/kinds/desired.ts";
import { inputs, mapped, sent } from "../../mapped.ts";

const mapping = mapped(server);
const desire = (...nics: object[]) => mapping.desire({ datacenterRef: { name: "berlin" }, cores: 1, ram: 1024, nics });

const block = (ips: string[], location = "de/txl") => ({ id: "block-1", status: { ips, location } });
const datacenter = { id: "dc-1", status: { location: "de/txl" } };
const web = { ipBlockRef: { name: "web" } };
const taken = (refs: Inputs["refs"]) => inputs({ refs: { datacenter, ...refs } });

describe("a reference of a NIC", () => {
  it("is its Lan and the IPBlocks of its addresses, for as long as it exists", () => {
    const use = (kind: string, role: string, name: string) => ({
      role,
      kind,
      field: role,
      target: { name },
      bond: "use",
    });
    const nic = {
      name: "public",
      lanRef: { name: "front" },
      ipsFrom: [web, { ipBlockRef: { name: "mail" }, index: 3 }],
    };
    expect(desire(nic).references.slice(1)).toEqual([
      use("Lan", "nics[public].lanRef", "front"),
      use("IPBlock", "nics[public].ipsFrom[0]", "web"),
      use("IPBlock", "nics[public].ipsFrom[1]", "mail"),
    ]);
  });

  it("is nothing when LAN and addresses are given by themselves", () => {
    expect(desire({ name: "n", lan: 1, ips: ["10.0.0.1"] }).references.slice(1)).toEqual([]);
  });

  it("becomes the number of the LAN and the addresses in its place", () => {
    const refs = {
      "nics[public].lanRef": { id: "7", status: {} },
      "nics[public].ipsFrom[0]": block(["203.0.113.1", "203.0.113.2"]),
    };
    const nic = { name: "public", lanRef: { name: "front" }, ips: ["10.0.0.1"], ipsFrom: [{ ...web, index: 1 }] };
    const properties = {
      name: "public",
      lan: 7,
      dhcp: true,
      ips: ["10.0.0.1", "203.0.113.2"],
      firewallActive: false,
    };
    expect(sent(desire(nic).body(taken(refs)))).toMatchObject({ entities: { nics: { items: [{ properties }] } } });
  });

  it("costs a question for the datacenter's location when only its id is known", () => {
    const nic = { name: "public", lan: 1, ipsFrom: [web] };
    expect(desire(nic).lookups(inputs())).toMatchObject([{ field: "datacenterId", path: "/datacenters/dc-1" }]);
    expect(desire(nic).lookups(taken({}))).toEqual([]);
  });
});

describe("a mistake in the network is reported before anything is sent", () => {
  const problem = (given: Inputs, ...nics: object[]) => desire(...nics).problem(given);
  const publicNic = (more: object = {}) => ({ name: "public", lan: 1, ipsFrom: [web], ...more });
  const of = (referent: Inputs["refs"][string]) => taken({ "nics[public].ipsFrom[0]": referent });

  it("an index beyond the IP block", () => {
    expect(problem(of(block(["203.0.113.1"])), publicNic({ ipsFrom: [{ ...web, index: 1 }] }))).toBe(
      "nics[public].ipsFrom[0]: index 1 out of range for IPBlock web; valid: 0",
    );
  });

  it("an IP block of another location", () => {
    expect(problem(of(block(["203.0.113.1"], "de/fra")), publicNic())).toBe(
      "nics[public].ipsFrom[0]: IPBlock web is in de/fra, the datacenter in de/txl: " +
        "an address can only be used in its own location",
    );
  });

  it("an IP block of the metro region of a further site", () => {
    const refs = {
      datacenter: { id: "dc-1", status: { location: "de/fra/2" } },
      "nics[public].ipsFrom[0]": block(["203.0.113.1"], "de/fra"),
    };
    expect(problem(inputs({ refs }), publicNic())).toContain("is in de/fra, the datacenter in de/fra/2");
  });

  it("an IP block of another location than the one that was looked up", () => {
    const refs = { "nics[public].ipsFrom[0]": block(["203.0.113.1"], "de/fra") };
    expect(problem(inputs({ refs, found: { datacenterId: "de/txl" } }), publicNic())).toContain("is in de/fra");
  });

  it("a LAN by its number in a datacenter of another namespace, known or not", () => {
    const abroad = ["datacenter"];
    for (const given of [taken({}), inputs({ refs: { datacenter: { id: "dc-1", status: {} } } })]) {
      expect(problem({ ...given, abroad }, { name: "n", lan: 1 })).toBe(
        "nics[n].lan: numbers are not allowed in a Datacenter of another namespace: use lanRef",
      );
      expect(problem({ ...given, abroad }, { name: "n", lanRef: { name: "front" } })).toBeUndefined();
    }
  });

  it("a Lan of another datacenter", () => {
    const refs = { "nics[n].lanRef": { id: "1", status: { parents: { datacenter: "dc-2" } } } };
    expect(problem(taken(refs), { name: "n", lanRef: { name: "front" } })).toBe(
      "nics[n].lanRef: Lan front is in another datacenter (dc-2): use a Lan in the server's datacenter",
    );
  });

  it.each([
    [
      "of a block, on two NICs",
      [publicNic(), { name: "second", lan: 2, ipsFrom: [web] }],
      "nics[second]: address 203.0.113.1 is already used by nics[public]",
    ],
    [
      "of a block, and by itself on another NIC",
      [{ name: "first", lan: 2, ips: ["203.0.113.1"] }, publicNic()],
      "nics[public]: address 203.0.113.1 is already used by nics[first]",
    ],
    [
      "of a block, twice on one NIC",
      [publicNic({ ips: ["203.0.113.1"] })],
      "nics[public]: address 203.0.113.1 is already used by nics[public]",
    ],
    [
      "in the same LAN",
      [
        { name: "a", lan: 1, ips: ["10.0.0.1"] },
        { name: "b", lan: 1, ips: ["10.0.0.1"] },
      ],
      "nics[b]: address 10.0.0.1 is already used by nics[a]",
    ],
  ])("the same address %s", (_, nics, message) => {
    const shown = block(["203.0.113.1"]);
    const given = taken({ "nics[public].ipsFrom[0]": shown, "nics[second].ipsFrom[0]": shown });
    expect(problem(given, ...nics)).toBe(message);
  });

  it.each([
    ["addresses of one block", of(block(["203.0.113.1"])), [publicNic()]],
    ["a block while the datacenter's location is unknown", inputs(), [publicNic()]],
    [
      "one private address in two LANs",
      taken({}),
      [
        { name: "a", lan: 1, ips: ["10.0.0.1"] },
        { name: "b", lan: 2, ips: ["10.0.0.1"] },
      ],
    ],
    [
      "a Lan of the same datacenter",
      taken({ "nics[n].lanRef": { id: "1", status: { parents: { datacenter: "dc-1" } } } }),
      [{ name: "n", lanRef: { name: "front" } }],
    ],
  ])("and nothing is said against %s", (_, given, nics) => {
    expect(problem(given, ...nics)).toBeUndefined();
  });
});

describe("an address of DHCP in a public LAN", () => {
  const advice = (nic: object, status: object, more: Partial<Inputs> = {}) => {
    const found = taken({ "nics[public].lanRef": { id: "1", status: { id: "1", ...status } } });
    return desire({ name: "public", lanRef: { name: "front" }, ...nic }).advice({ ...found, ...more });
  };

  it("is advised against: it changes with the server", () => {
    expect(advice({}, { public: true })).toEqual([
      "nics[public].dhcp: the address in the public Lan front is not reserved and changes when the server is replaced: to keep it, set ipsFrom to an IPBlock",
    ]);
  });

  it("is no matter where an adopted server may have it from an IPBlock", () => {
    expect(advice({}, { public: true }, { adopted: true })).toEqual([]);
  });

  it.each([
    ["in a private LAN", {}, { public: false }],
    ["without DHCP", { dhcp: false }, { public: true }],
    ["with an address of its own", { ips: ["192.0.2.1"] }, { public: true }],
    ["with an address of an IPBlock", { ipsFrom: [web] }, { public: true }],
  ])("is no matter %s", (_, nic, lan) => {
    expect(advice(nic, lan)).toEqual([]);
  });
});
