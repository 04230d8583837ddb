import type { Comparison, Inputs } from "../../desired.ts";
import { missing, paired, patch, surplus } from "../../fields/compare.ts";
import { oneSpelling } from "../../fields/network/addresses.ts";
import { compareFirewall } from "./firewall.ts";
import { type Nic, nicBody, wantedNic } from "./nics.ts";
import { type Full, readable, type WireNic, type WireServer } from "./wire.ts";

type Wanted = ReturnType<typeof wantedNic>;

/**
 * NICs are paired by name. A list in spec is complete: a NIC that is not in it is removed. Order: changes, removals,
 * additions. A change that needs an address of another NIC comes after the removals, which may free the address.
 */
export function compareNics(
  nics: readonly Nic[] | undefined,
  found: WireServer,
  serverPath: string,
  inputs: Inputs,
): Comparison[] {
  const foundNics = readable(found.entities?.nics?.items);
  if (!nics || !foundNics) return [];
  const { both, ...alone } = paired(nics, foundNics, ({ name }, { properties }) => name === properties.name);
  const changed = both.map(([nic, match]) => {
    const wanted = wantedNic(nic, inputs);
    const rivals = nics.filter((other) => other !== nic).map((other) => wantedNic(other, inputs));
    const { ips, waits } = nextAddresses(wanted, match, rivals, foundNics);
    const path = `${serverPath}/nics/${match.id}`;
    return { waits, part: change({ ...wanted, ips }, match, path), ...compareFirewall(nic, match, path, inputs) };
  });
  return [
    ...changed.flatMap(({ opening }) => opening),
    ...changed.filter(({ waits }) => !waits).map(({ part }) => part),
    ...(inputs.observed ? [] : alone.surplus.map((nic) => removal(nic, serverPath))),
    ...changed.filter(({ waits }) => waits).map(({ part }) => part),
    ...changed.flatMap(({ closing }) => closing),
    ...alone.missing.map((nic) => addition(nic, serverPath, inputs)),
  ];
}

/**
 * The addresses to write to a NIC now; undefined if they stay unchanged. An address moves between two NICs in two steps:
 * one releases it, then the other takes it. A NIC waits while another one has an address that it wants. A NIC that
 * blocks another one in this way releases all of its addresses if it waits itself, or if spec gives it none.
 */
function nextAddresses(wanted: Wanted, match: Full<WireNic>, rivals: Wanted[], foundNics: Full<WireNic>[]) {
  const { ips } = wanted;
  const current = match.properties.ips ?? [];
  const ofOthers = foundNics.filter((other) => other !== match).flatMap(({ properties }) => properties.ips ?? []);
  const waits = ips?.some((ip) => !current.includes(ip) && ofOthers.includes(ip)) ?? false;
  const wantedByOthers = rivals.flatMap((rival) => rival.ips ?? []);
  const blocks = current.some((ip) => !ips?.includes(ip) && wantedByOthers.includes(ip));
  if (blocks && (waits || !ips)) return { ips: [], waits: false };
  return { ips: sameAddresses(ips, current) ? undefined : ips, waits };
}

/** The order of addresses does not matter. */
const sameAddresses = <T>(wanted: T[] | undefined, found: T[] = []) =>
  wanted?.length === found.length && wanted.every((ip) => found.includes(ip));

function change(wanted: Wanted, { properties: current }: Full<WireNic>, path: string): Comparison {
  return patch(`nics[${wanted.name}].`, path, {
    lan: [wanted.lan, current.lan],
    dhcp: [wanted.dhcp, current.dhcp],
    ips: [wanted.ips, current.ips],
    dhcpv6: [wanted.dhcpv6, current.dhcpv6],
    ipv6CidrBlock: [wanted.ipv6CidrBlock, oneSpelling(current.ipv6CidrBlock)],
    ipv6Ips: [
      sameAddresses(wanted.ipv6Ips, current.ipv6Ips?.map(oneSpelling)) ? undefined : wanted.ipv6Ips,
      current.ipv6Ips,
    ],
    firewallActive: [wanted.firewallActive, current.firewallActive],
    firewallType: [wanted.firewallType, current.firewallType],
  });
}

function removal({ id, properties }: Full<WireNic>, serverPath: string): Comparison {
  const name = properties.name ?? id;
  return {
    drift: [surplus(`nics[${name}]`)],
    next: { action: `remove NIC ${name}`, method: "DELETE", path: `${serverPath}/nics/${id}` },
  };
}

const addition = (nic: Nic, serverPath: string, inputs: Inputs): Comparison => ({
  drift: [missing(`nics[${nic.name}]`)],
  next: {
    action: `add NIC ${nic.name}`,
    method: "POST",
    path: `${serverPath}/nics`,
    body: nicBody(nic, inputs),
    once: true,
  },
});
