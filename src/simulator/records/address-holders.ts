import { type Resource, textIn, textsIn } from "../store/resource.ts";
import type { Resources } from "../store/resources.ts";

/** The types that have addresses: the property with them, and the name in messages. */
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

/** A holder in messages: `NAT gateway "out" (<id>)`. */
export function holderName({ type, id, properties }: Resource): string {
  const name = textIn(properties, "name");
  return `${holders[type]?.name ?? type} ${name === undefined ? id : `"${name}" (${id})`}`;
}
