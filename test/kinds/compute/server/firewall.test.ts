import { describe, expect, it } from "vitest";
import { server } from "../../../../src/kinds/compute/server/server.ts";
import { items, platformForFile } from "../../../simulator/platform.ts";
import { inputs, mapped, nothing, sent } from "../../mapped.ts";
import { createServer } from "./platform-server.ts";

const mapping = mapped(server);
const web = { name: "web", protocol: "TCP", portRangeStart: 443, portRangeEnd: 443 };
const ssh = { name: "ssh", protocol: "TCP", portRangeStart: 22, portRangeEnd: 22, sourceIp: "198.51.100.0/24" };
const ping = { name: "ping", protocol: "ICMP", icmpType: 8, icmpCode: 0 };
const specOf = (nic: object) => ({
  datacenterRef: { name: "berlin" },
  cores: 1,
  ram: 1024,
  nics: [{ name: "public", lan: 1, ...nic }],
});
const desire = (nic: object) => mapping.desire(specOf(nic));
const guarded = (...firewallRules: object[]) => ({ firewallActive: true, firewallRules });
const own = "/datacenters/dc-1/servers/srv-1/nics/nic-0";

describe("the firewall of a NIC", () => {
  const create = (nic: object) => createServer(sent(desire(nic).body(inputs())));
  const compare = (nic: object, found: ReturnType<typeof create>) => desire(nic).compare(found.item(), inputs());
  const rulesOf = (found: ReturnType<typeof create>) => found.nics[0]?.entities.firewallrules.items ?? [];

  it("is created with its rules in one write", () => {
    expect(sent(desire({ ...guarded(web), firewallType: "BIDIRECTIONAL" }).body(inputs()))).toMatchObject({
      entities: {
        nics: {
          items: [
            {
              properties: { name: "public", firewallActive: true, firewallType: "BIDIRECTIONAL" },
              entities: { firewallrules: { items: [{ properties: { ...web, type: "INGRESS" } }] } },
            },
          ],
        },
      },
    });
  });

  it("comes with its rules when the NIC is added later", () => {
    const bare = createServer(sent(mapping.desire({ ...specOf({}), nics: [] }).body(inputs())));
    const added = desire(guarded(web)).compare(bare.item(), inputs()).next;
    expect(sent(added?.body)).toMatchObject({
      entities: { firewallrules: { items: [{ properties: { ...web, type: "INGRESS" } }] } },
    });
    expect(added?.once).toBe(true);
  });

  it("gets a rule that is missing, at most once", () => {
    const { drift, next } = compare(guarded(web, ssh), create(guarded(web)));
    expect(drift).toEqual([{ field: "nics[public].firewallRules[ssh]", wanted: "present", found: "absent" }]);
    expect(sent(next)).toEqual({
      action: "add firewall rule ssh to NIC public",
      method: "POST",
      path: `${own}/firewallrules`,
      body: { properties: { ...ssh, type: "INGRESS" } },
      once: true,
    });
  });

  it("loses a rule that spec no longer has, and one that somebody else made with a name of spec", () => {
    expect(compare(guarded(web), create(guarded(web, ssh)))).toEqual({
      drift: [{ field: "nics[public].firewallRules[ssh]", wanted: "absent", found: "present" }],
      next: {
        action: "remove firewall rule ssh from NIC public",
        method: "DELETE",
        path: `${own}/firewallrules/rule-1`,
      },
    });
    const found = create(guarded(web));
    rulesOf(found).push({ id: "rule-9", properties: { name: "web", protocol: "TCP" } });
    expect(compare(guarded(web), found).next?.path).toBe(`${own}/firewallrules/rule-9`);
  });

  it("has a rule changed in place, also back to what a rule without the field means", () => {
    const { drift, next } = compare(guarded({ ...ssh, sourceIp: undefined, portRangeEnd: 23 }), create(guarded(ssh)));
    expect(drift.map(({ field }) => field)).toEqual([
      "nics[public].firewallRules[ssh].sourceIp",
      "nics[public].firewallRules[ssh].portRangeEnd",
    ]);
    expect(next).toEqual({
      action: "update",
      method: "PATCH",
      path: `${own}/firewallrules/rule-0`,
      body: { sourceIp: null, portRangeEnd: 23 },
    });
  });

  it("is up to date however addresses are written", () => {
    const found = create(guarded({ ...ssh, sourceIp: "2001:db8:0:0::/64", sourceMac: "02:01:0A:00:00:01" }));
    const written = { sourceIp: "2001:DB8::/64", sourceMac: "02:01:0a:00:00:01" };
    expect(compare(guarded({ ...ssh, ...written }), found)).toEqual({ drift: [] });
  });

  it("keeps its rules without a list, when the server is only observed, and when an answer does not show them", () => {
    const found = create(guarded(web));
    expect(compare({ firewallActive: true }, found)).toEqual({ drift: [] });
    expect(desire(guarded()).compare(found.item(), inputs({ observed: true }))).toEqual({ drift: [] });
    const shallow = create({});
    for (const nic of shallow.nics) Reflect.deleteProperty(nic, "entities");
    expect(compare({ firewallRules: [web] }, shallow)).toEqual({ drift: [] });
  });

  it("advises against one that is on and lets nothing through, and rules of one that is off", () => {
    const advice = (nic: object, shown = {}) => desire(nic).advice(inputs({ shown }));
    expect(advice(guarded())).toEqual([
      "nics[public].firewallActive: without firewallRules the firewall refuses all traffic",
    ]);
    expect(advice({ firewallActive: true })).toHaveLength(1);
    expect(advice({ firewallActive: true }, { nics: [{ name: "public", firewallRules: 2 }] })).toEqual([]);
    expect(advice(guarded(web))).toEqual([]);
    expect(advice({ firewallRules: [web] })).toEqual([
      "nics[public].firewallRules: the rules have no effect while firewallActive is false",
    ]);
    expect(advice({})).toEqual([]);
  });
});

describe("on the platform", async () => {
  const platform = await platformForFile();
  const datacenter = await platform.datacenter("de/txl");
  const given = inputs({ parents: { datacenter: datacenter.split("/")[2] ?? "" } });
  const path = await platform.made(`${datacenter}/servers`, sent(desire({}).body(given)));
  const seen = async () =>
    items(await platform.core("GET", `${datacenter}/servers?depth=${mapping.place.depth}`))[0] ?? expect.fail("gone");
  const compare = async (nic: object) => desire(nic).compare(await seen(), given);

  async function settle(nic: object): Promise<string[]> {
    const actions: string[] = [];
    for (let { next } = await compare(nic); next; { next } = await compare(nic)) {
      await platform.done(next.method, next.path, next.body);
      actions.push(next.action);
    }
    expect(await compare(nic)).toEqual({ drift: [] });
    return actions;
  }

  it.each([
    ["opens doors before it is switched on", guarded(web, ping), ["add … web", "add … ping", "update"]],
    ["changes rules in place", guarded({ ...web, portRangeStart: 80 }, ping), ["update"]],
    [
      "replaces a rule of another protocol, the new one first",
      guarded(web, { name: "ping", protocol: "ICMPv6" }),
      ["add … ping", "update", "remove … ping"],
    ],
    ["is switched off before doors are closed", { firewallRules: [web] }, ["update", "remove … ping"]],
    ["guards what leaves", { ...guarded(web), firewallType: "BIDIRECTIONAL" }, ["update"]],
  ])("it %s", async (_, nic, actions) => {
    const taken = await settle(nic);
    expect(taken.map((each) => each.replace(/firewall rule/, "…").replace(/ (to|from) NIC public/, ""))).toEqual(
      actions,
    );
  });

  it("shows how many rules there are", async () => {
    expect(mapping.comparison.facts(await seen(), nothing)).toMatchObject({
      nics: [{ name: "public", firewallActive: true, firewallRules: 1 }],
    });
    expect(path).toContain("/servers/");
  });
});
