import { envName } from "../../fields/secrets/output.ts";
import type { OutputSource } from "../../kind.ts";
import { nicsOf, wire } from "./wire.ts";

/** The addresses of a NIC. */
export interface Addresses {
  name?: string | null | undefined;
  ips?: string[] | null | undefined;
  ipv6Ips?: string[] | null | undefined;
}

export const allAddresses = (nics: readonly Addresses[]): string[] => [
  ...nics.flatMap(({ ips }) => ips ?? []),
  ...nics.flatMap(({ ipv6Ips }) => ipv6Ips ?? []),
];

/** Addresses by NIC. NICs whose names map to the same variable share it. */
export function addressesByNic(nics: readonly Addresses[]): Record<string, string[]> {
  const named = new Map<string, string[]>();
  for (const { name, ips, ipv6Ips } of nics) {
    const key = `NIC_${envName(name ?? "")}_IPS`;
    named.set(key, [...(named.get(key) ?? []), ...(ips ?? []), ...(ipv6Ips ?? [])]);
  }
  // The variable of NICs whose names have no valid character.
  named.delete("NIC__IPS");
  return Object.fromEntries(named);
}

export const serverOutput: OutputSource["values"] = (item, { id, parents }) => {
  const nics = nicsOf(wire.parse(item)).map(({ properties }) => properties ?? {});
  const all = allAddresses(nics);
  return { ID: id, DATACENTER_ID: parents.datacenter, PRIMARY_IP: all[0], IPS: all, ...addressesByNic(nics) };
};
