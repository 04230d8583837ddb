import { describe, expect, it } from "vitest";
import { server } from "../../../../src/kinds/compute/server/server.ts";
import type { Inputs } from "../../../../src/kinds/desired.ts";
import { inputs, mapped, sent } from "../../mapped.ts";
import { createServer, type PlatformServer } from "./platform-server.ts";

const mapping = mapped(server);
const own = "/datacenters/dc-1/servers/srv-1";
const bare = { datacenterRef: { name: "berlin" }, cores: 1, ram: 1024 };
const desire = (...nics: object[]) => mapping.desire({ ...bare, nics });

/** All writes of a comparison, in order. */
function steps(found: PlatformServer, given: Inputs, ...nics: object[]): string[] {
  const taken: string[] = [];
  for (let next = desire(...nics).compare(found.item(), given).next; next && taken.length < 9; ) {
    found.perform(next);
    taken.push(`${next.action} ${next.path.replace(own, "")} ${JSON.stringify(next.body ?? null)}`);
    next = desire(...nics).compare(found.item(), given).next;
  }
  return taken;
}

const create = (...nics: object[]) => createServer(sent(desire(...nics).body(inputs())));
const first = { name: "first", lan: 1 };
const second = { name: "second", lan: 2 };

describe("NICs come and go with spec", () => {
  it("one that is missing is added, at most once", () => {
    expect(desire(first, second).compare(create(first).item(), inputs())).toEqual({
      drift: [{ field: "nics[second]", wanted: "present", found: "absent" }],
      next: {
        action: "add NIC second",
        method: "POST",
        path: `${own}/nics`,
        body: { properties: { ...second, dhcp: true, firewallActive: false } },
        once: true,
      },
    });
  });

  it("one that spec no longer has is removed", () => {
    expect(desire(first).compare(create(first, second).item(), inputs())).toEqual({
      drift: [{ field: "nics[second]", wanted: "absent", found: "present" }],
      next: { action: "remove NIC second", method: "DELETE", path: `${own}/nics/nic-1` },
    });
  });

  it("one without a name is removed by its id", () => {
    const found = create(first);
    found.nics.push({ id: "nic-9", properties: { name: null, lan: 1 }, entities: { firewallrules: { items: [] } } });
    expect(desire(first).compare(found.item(), inputs()).next?.action).toBe("remove NIC nic-9");
  });

  it("all are removed by an empty list", () => {
    expect(steps(create(first, second), inputs())).toHaveLength(2);
  });

  it("all are left alone without a list, and when the server is only observed", () => {
    const found = create(first, second).item();
    expect(mapping.desire(bare).compare(found, inputs())).toEqual({ drift: [] });
    expect(desire(first).compare(found, inputs({ observed: true }))).toEqual({ drift: [] });
  });

  it("a new name is a new NIC: the old one goes first", () => {
    expect(steps(create(first), inputs(), { ...first, name: "renamed" }).map((step) => step.split(" /")[0])).toEqual([
      "remove NIC first",
      "add NIC renamed",
    ]);
  });

  it("changes come before removals, and additions last", () => {
    const wanted = [
      { name: "third", lan: 3 },
      { ...first, dhcp: false },
    ];
    expect(steps(create(first, second), inputs(), ...wanted)).toEqual([
      'update /nics/nic-0 {"dhcp":false}',
      "remove NIC second /nics/nic-1 null",
      'add NIC third /nics {"properties":{"name":"third","lan":3,"dhcp":true,"firewallActive":false}}',
    ]);
  });

  it("another Lan is a change in place", () => {
    const given = inputs({ refs: { "nics[first].lanRef": { id: "5", status: {} } } });
    expect(steps(create(first), given, { name: "first", lanRef: { name: "front" } })).toEqual([
      'update /nics/nic-0 {"lan":5}',
    ]);
  });

  it("a suspended Cube keeps its NICs until it is resumed", () => {
    const cube = { type: "CUBE", templateName: "Basic Cube XS", bootVolume: { licenceType: "LINUX" } };
    const spec = { datacenterRef: { name: "berlin" }, ...cube, nics: [first] };
    const found = createServer(sent(mapping.desire(spec).body(inputs())));
    found.properties.vmState = "SUSPENDED";
    const compared = mapping.desire({ ...spec, nics: [second] }).compare(found.item(), inputs());
    expect(compared.drift.map(({ field }) => field)).toEqual(["nics[first]", "nics[second]"]);
    expect(compared.next).toBeUndefined();
  });
});

describe("an address moves between NICs", () => {
  const ip = "203.0.113.1";
  const other = "203.0.113.2";

  it("after the NIC that had it is removed", () => {
    expect(steps(create(first, { ...second, ips: [ip] }), inputs(), { ...first, ips: [ip] })).toEqual([
      "remove NIC second /nics/nic-1 null",
      `update /nics/nic-0 {"ips":["${ip}"]}`,
    ]);
  });

  it("after the NIC that had it has another one", () => {
    const found = create(first, { ...second, ips: [ip] });
    expect(steps(found, inputs(), { ...first, ips: [ip] }, { ...second, ips: [other] })).toEqual([
      `update /nics/nic-1 {"ips":["${other}"]}`,
      `update /nics/nic-0 {"ips":["${ip}"]}`,
    ]);
  });

  it("after the NIC that had it, and may have any now, has given it up", () => {
    const found = create(first, { ...second, ips: [ip] });
    expect(steps(found, inputs(), { ...first, ips: [ip] }, second)).toEqual([
      'update /nics/nic-1 {"ips":[]}',
      `update /nics/nic-0 {"ips":["${ip}"]}`,
    ]);
  });

  it("against another one", () => {
    const found = create({ ...first, ips: [ip] }, { ...second, ips: [other] });
    expect(steps(found, inputs(), { ...first, ips: [other] }, { ...second, ips: [ip] })).toEqual([
      'update /nics/nic-0 {"ips":[]}',
      `update /nics/nic-1 {"ips":["${ip}"]}`,
      `update /nics/nic-0 {"ips":["${other}"]}`,
    ]);
  });

  it("not at all while only their order differs", () => {
    const found = create({ ...first, ips: [ip, other] });
    expect(steps(found, inputs(), { ...first, ips: [other, ip] })).toEqual([]);
  });
});
