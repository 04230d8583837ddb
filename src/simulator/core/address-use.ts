import { busy } from "../http/refusal.ts";
import { type Resource, textIn, textsIn } from "../store/resource.ts";
import type { Resources } from "../store/resources.ts";
import { isPublic } from "./addresses.ts";
import { datacenterOf } from "./href.ts";
import type { Draft } from "./kind.ts";

/** What has addresses of its own: the property with them, and how people call it. */
const holders: Record<string, { property: string; name: string }> = {
  nic: { property: "ips", name: "NIC" },
  loadbalancer: { property: "ip", name: "load balancer" },
  networkloadbalancer: { property: "ips", name: "Network Load Balancer" },
  applicationloadbalancer: { property: "ips", name: "Application Load Balancer" },
  natgateway: { property: "publicIps", name: "NAT gateway" },
};

export const addressHolders = (resources: Resources): Resource[] =>
  Object.keys(holders).flatMap((type) => [...resources.ofType(type)]);

export function addressesOf({ type, properties }: Resource): string[] {
  const property = holders[type]?.property ?? "";
  const single = textIn(properties, property);
  return single === undefined ? textsIn(properties, property) : [single];
}

/** A holder in words: `NAT gateway "out" (<id>)`. */
export function holderName({ type, id, properties }: Resource): string {
  const name = textIn(properties, "name");
  return `${holders[type]?.name ?? type} ${name === undefined ? id : `"${name}" (${id})`}`;
}

/** Checks the addresses that a list in the body names; private ones need no reservation unless the kind says so. */
export function checkReserved(draft: Draft, property: string, needsReservation = isPublic): void {
  for (const [index, ip] of textsIn(draft.given, property).entries()) {
    const fault = needsReservation(ip) ? reservationFault(draft, ip) : undefined;
    if (fault !== undefined) draft.fault(`${property}[${index}]`, fault);
  }
}

/** Why an address cannot be had: a new one must be reserved in the datacenter's location and be free. */
export function reservationFault({ world, key, previous }: Draft, ip: string): string | undefined {
  if (previous !== null && addressesOf(previous).includes(ip)) return undefined;
  const location = textIn(world.resources.get(datacenterOf(key))?.properties ?? {}, "location");
  const block = [...world.resources.ofType("ipblock")].find(({ properties }) =>
    textsIn(properties, "ips").includes(ip),
  );
  if (block === undefined) return `the address ${ip} belongs to none of your IP blocks`;
  if (block.properties.location !== location) {
    return `the address ${ip} is reserved in ${block.properties.location}, the datacenter is in ${location}`;
  }
  if (block.state === "BUSY") throw busy(block);
  const user = addressHolders(world.resources).find((other) => other.key !== key && addressesOf(other).includes(ip));
  return user && `the address ${ip} is in use by the ${holderName(user)}`;
}
