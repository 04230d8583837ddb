import { busy } from "../../http/refusal.ts";
import { addressesOf, addressHolders, holderName } from "../../records/address-holders.ts";
import { datacenterOf, textIn, textsIn } from "../../store/resource.ts";
import type { Draft } from "../kind/kind.ts";
import { isPublic } from "./addresses.ts";

/** Checks the addresses that a list in the body names; private ones need no reservation unless the kind says so. */
export function checkReserved(draft: Draft, property: string, needsReservation = isPublic): void {
  for (const [index, ip] of textsIn(draft.given, property).entries()) {
    const fault = needsReservation(ip) ? reservationFault(draft, ip) : undefined;
    if (fault !== undefined) draft.fault(`${property}[${index}]`, fault);
  }
}

/** Why an address cannot be used: a new one must be reserved in the datacenter's location and be free. */
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

/** Checks that the address of a rule is one of its load balancer or gateway. */
export function checkRuleAddress({ next, parent, fault }: Draft, property: string, among: string): void {
  const known = textsIn(parent?.properties ?? {}, among);
  if (known.includes(textIn(next, property) ?? "")) return;
  fault(property, `must be one of the ${among} of the ${parent?.type} (${known.join(", ") || "it has none"})`);
}

/** Refuses to remove an address that a rule uses. */
export function keepRuleAddresses(draft: Draft, property: string, rules: string, ruleProperty: string): void {
  const { world, key, next } = draft;
  const left = textsIn(next, property);
  for (const rule of world.resources.children(key, rules)) {
    const ip = textIn(rule.properties, ruleProperty) ?? "";
    if (!left.includes(ip)) draft.fault(property, `must keep ${ip}: the rule "${rule.properties.name}" works on it`);
  }
}
