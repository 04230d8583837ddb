import { envName } from "../../fields/output.ts";
import type { OutputSource } from "../../kind.ts";
import { nicsOf, wire } from "./wire.ts";

/** Addresses of a server, all of them and by NIC. NICs whose names make the same variable share it. */
export const serverOutput: OutputSource["values"] = (item, { id, parents }) => {
  const nics = nicsOf(wire.parse(item)).map(({ properties }) => ({
    key: `NIC_${envName(properties?.name ?? "")}_IPS`,
    ips: properties?.ips ?? [],
    ipv6Ips: properties?.ipv6Ips ?? [],
  }));
  const named = new Map<string, string[]>();
  for (const { key, ips, ipv6Ips } of nics) named.set(key, [...(named.get(key) ?? []), ...ips, ...ipv6Ips]);
  named.delete("NIC__IPS");
  const all = [...nics.flatMap(({ ips }) => ips), ...nics.flatMap(({ ipv6Ips }) => ipv6Ips)];
  return { ID: id, DATACENTER_ID: parents.datacenter, PRIMARY_IP: all[0], IPS: all, ...Object.fromEntries(named) };
};
