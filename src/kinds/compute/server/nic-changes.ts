import type { Comparison, Inputs } from "../../desired.ts";
import { missing, paired, patch, surplus } from "../../fields/compare.ts";
import { oneSpelling } from "../../fields/network/addresses.ts";
import { compareFirewall } from "./firewall.ts";
import { type Nic, nicBody, nicProperties } from "./nics.ts";
import { type Full, readable, type WireNic, type WireServer } from "./wire.ts";

type Wanted = ReturnType<typeof nicProperties>;

/**
 * NICs are paired by name. A list in spec is complete: a NIC that is not in it is removed. Order: changes, removals,
 * additions. A change that needs an address of another NIC comes after the removals, which may free the address.
 */
export function compareNics(
  nics: readonly Nic[] | undefined,
  found: WireServer,
  own: string,
  inputs: Inputs,
): Comparison[] {
  const there = readable(found.entities?.nics?.items);
  if (!nics || !there) return [];
  const { both, ...alone } = paired(nics, there, ({ name }, { properties }) => name === properties.name);
  const changed = both.map(([nic, match]) => {
    const wanted = nicProperties(nic, inputs);
    const rivals = nics.filter((other) => other !== nic).map((other) => nicProperties(other, inputs));
    const { ips, waits } = nextAddresses(wanted, match, rivals, there);
    const path = `${own}/nics/${match.id}`;
    return { waits, part: change({ ...wanted, ips }, match, path), ...compareFirewall(nic, match, path, inputs) };
  });
  return [
    ...changed.flatMap(({ opening }) => opening),
    ...changed.filter(({ waits }) => !waits).map(({ part }) => part),
    ...(inputs.observed ? [] : alone.surplus.map((nic) => removal(nic, own))),
    ...changed.filter(({ waits }) => waits).map(({ part }) => part),
    ...changed.flatMap(({ closing }) => closing),
    ...alone.missing.map((nic) => addition(nic, own, inputs)),
  ];
}

/** An address moves between two NICs of a server in two steps: one NIC releases it, then the other takes it. */
function nextAddresses(wanted: Wanted, match: Full<WireNic>, rivals: Wanted[], there: Full<WireNic>[]) {
  const { ips } = wanted;
  const has = match.properties.ips ?? [];
  const elsewhere = there.filter((other) => other !== match).flatMap(({ properties }) => properties.ips ?? []);
  const waits = ips?.some((ip) => !has.includes(ip) && elsewhere.includes(ip)) ?? false;
  const asked = rivals.flatMap((rival) => rival.ips ?? []);
  const blocks = has.some((ip) => !ips?.includes(ip) && asked.includes(ip));
  if (blocks && (waits || !ips)) return { ips: [], waits: false };
  return { ips: sameAddresses(ips, has) ? undefined : ips, waits };
}

/** The order of addresses does not matter. */
const sameAddresses = <T>(wanted: T[] | undefined, found: T[] = []) =>
  wanted?.length === found.length && wanted.every((ip) => found.includes(ip));

function change(wanted: Wanted, { properties: there }: Full<WireNic>, path: string): Comparison {
  return patch(`nics[${wanted.name}].`, path, {
    lan: [wanted.lan, there.lan],
    dhcp: [wanted.dhcp, there.dhcp],
    ips: [wanted.ips, there.ips],
    dhcpv6: [wanted.dhcpv6, there.dhcpv6],
    ipv6CidrBlock: [wanted.ipv6CidrBlock, oneSpelling(there.ipv6CidrBlock)],
    ipv6Ips: [
      sameAddresses(wanted.ipv6Ips, there.ipv6Ips?.map(oneSpelling)) ? undefined : wanted.ipv6Ips,
      there.ipv6Ips,
    ],
    firewallActive: [wanted.firewallActive, there.firewallActive],
    firewallType: [wanted.firewallType, there.firewallType],
  });
}

function removal({ id, properties }: Full<WireNic>, own: string): Comparison {
  const name = properties.name ?? id;
  return {
    drift: [surplus(`nics[${name}]`)],
    next: { action: `remove NIC ${name}`, method: "DELETE", path: `${own}/nics/${id}` },
  };
}

const addition = (nic: Nic, own: string, inputs: Inputs): Comparison => ({
  drift: [missing(`nics[${nic.name}]`)],
  next: {
    action: `add NIC ${nic.name}`,
    method: "POST",
    path: `${own}/nics`,
    body: nicBody(nic, inputs),
    once: true,
  },
});
