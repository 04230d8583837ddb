import { describe, expect, it } from "vitest";
import { server } from "../../../../src/kinds/compute/server/server.ts";
import { items, platformForFile, resource } from "../../../simulator/platform.ts";
import { inputs, mapped, nothing, sent } from "../../mapped.ts";

const mapping = mapped(server);
const desire = (nic: object) =>
  mapping.desire({ datacenterRef: { name: "berlin" }, cores: 1, ram: 1024, nics: [{ name: "n", ...nic }] });

const platform = await platformForFile();
const datacenter = await platform.datacenter("de/txl");
const properties = { public: true, ipv6CidrBlock: "AUTO" };
const lan = resource(await platform.done("POST", `${datacenter}/lans`, { properties }));
/** A network of the LAN's, and an address in it. */
const within = String(lan.properties.ipv6CidrBlock).replace("::/64", "");
const block = `${within}:beef::/80`;
const address = (last: string) => `${within}:beef::${last}`;
const given = inputs({ parents: { datacenter: datacenter.split("/")[2] ?? "" } });

const found = async () =>
  items(await platform.core("GET", `${datacenter}/servers?depth=${mapping.place.depth}`))[0] ?? expect.fail("gone");
const compare = async (nic: object) => desire(nic).compare(await found(), given);
async function settle(nic: object): Promise<unknown[]> {
  const bodies: unknown[] = [];
  for (let { next } = await compare(nic); next; { next } = await compare(nic)) {
    await platform.done(next.method, next.path, next.body);
    bodies.push(next.body);
  }
  expect(await compare(nic)).toEqual({ drift: [] });
  return bodies;
}

const plain = { lan: Number(lan.id) };
const fixed = { ...plain, ipv6CidrBlock: block, ipv6Ips: [address("1"), address("2")], dhcpv6: false };
await platform.made(`${datacenter}/servers`, sent(desire(fixed).body(given)));

describe("IPv6 of a NIC", () => {
  it("is created as spec has it, and shown", async () => {
    expect(await settle(fixed)).toEqual([]);
    const { ips, nics } = Object(mapping.comparison.facts(await found(), nothing));
    expect(nics).toMatchObject([{ ipv6CidrBlock: block, ipv6Ips: fixed.ipv6Ips }]);
    expect(ips).toEqual([expect.stringMatching(/^\d+\./), ...fixed.ipv6Ips]);
  });

  it.each([
    ["is the same in another spelling and order", { ipv6Ips: [address("0002").toUpperCase(), address("1")] }, []],
    ["is changed in place", { ipv6Ips: [address("3")], dhcpv6: true }, [{ dhcpv6: true, ipv6Ips: [address("3")] }]],
    ["is the platform's where spec says nothing", { ipv6CidrBlock: undefined, ipv6Ips: [], dhcpv6: undefined }, []],
  ])("%s", async (_, change, bodies) => {
    expect(await settle({ ...fixed, ...change })).toEqual(bodies);
  });

  it("needs a Lan with an IPv6 block, which is told before anything is sent", () => {
    const problem = (nic: object, status: object) =>
      desire({ lanRef: { name: "front" }, ...nic }).problem(
        inputs({ refs: { "nics[n].lanRef": { id: "1", status: { id: "1", ...status } } } }),
      );
    const message = "nics[n].lanRef: Lan front has no IPv6 block: set spec.ipv6 of the Lan, for example to AUTO";
    expect(problem({ ipv6Ips: [address("1")] }, {})).toBe(message);
    expect(problem({ ipv6CidrBlock: block }, {})).toBe(message);
    expect(problem({ ipv6Ips: [address("1")] }, { ipv6CidrBlock: `${within}::/64` })).toBeUndefined();
    expect(problem({}, {})).toBeUndefined();
  });
});
