import { textIn, textsIn } from "../../store/resource.ts";
import type { Draft } from "../kind/kind.ts";

/** A rule works on an address of the load balancer or gateway that it belongs to. */
export function checkRuleAddress({ next, parent, fault }: Draft, property: string, among: string): void {
  const known = textsIn(parent?.properties ?? {}, among);
  if (known.includes(textIn(next, property) ?? "")) return;
  fault(property, `must be one of the ${among} of the ${parent?.type} (${known.join(", ") || "it has none"})`);
}

/** The other way round: an address that a rule works on cannot be taken away. */
export function keepRuleAddresses(draft: Draft, property: string, rules: string, ruleProperty: string): void {
  const { world, key, next } = draft;
  const left = textsIn(next, property);
  for (const rule of world.resources.children(key, rules)) {
    const ip = textIn(rule.properties, ruleProperty) ?? "";
    if (!left.includes(ip)) draft.fault(property, `must keep ${ip}: the rule "${rule.properties.name}" works on it`);
  }
}
