import { z } from "zod";
import type { Comparison, Inputs } from "../../desired.ts";
import { missing, patch, surplus } from "../../fields/compare.ts";
import { comparableRule, type FirewallRule, firewallAdvice, ruleProperties } from "../../fields/network/firewall.ts";
import type { Nic } from "./nics.ts";
import { type Full, readable, type WireFirewallRule, type WireNic } from "./wire.ts";

type Found = Full<WireFirewallRule>;
interface At {
  nic: string;
  path: string;
}

/**
 * Order of changes: first rules that open the firewall, then the NIC itself, which may switch the firewall on, then
 * rules that close it. So traffic that both the old and the new rules allow is never refused.
 */
export function compareFirewall(nic: Nic, found: Full<WireNic>, path: string, { observed }: Pick<Inputs, "observed">) {
  const foundRules = readable(found.entities?.firewallrules?.items);
  if (!nic.firewallRules || !foundRules) return { opening: [], closing: [] };
  const at = { nic: nic.name, path: `${path}/firewallrules` };
  const pairs = nic.firewallRules.map((rule) => [rule, foundRules.find((each) => isSame(rule, each))] as const);
  const paired = new Set(pairs.map(([, match]) => match));
  return {
    opening: [
      ...pairs.flatMap(([rule, match]) => (match ? [] : [addition(rule, at)])),
      ...pairs.flatMap(([rule, match]) => (match ? [change(rule, match, at)] : [])),
    ],
    closing: observed ? [] : foundRules.filter((each) => !paired.has(each)).map((each) => removal(each, at)),
  };
}

/** The protocol of a rule cannot change. A second rule with the same name counts as surplus. */
const isSame = ({ name, protocol }: FirewallRule, { properties }: Found) =>
  name === properties.name && protocol === properties.protocol;

const fieldOf = ({ nic }: At, rule: string) => `nics[${nic}].firewallRules[${rule}]`;

function addition(rule: FirewallRule, at: At): Comparison {
  return {
    drift: [missing(fieldOf(at, rule.name))],
    next: {
      action: `add firewall rule ${rule.name} to NIC ${at.nic}`,
      method: "POST",
      path: at.path,
      body: { properties: ruleProperties(rule) },
      once: true,
    },
  };
}

/** Reverts values that were changed on the platform. */
function change(rule: FirewallRule, { id, properties }: Found, at: At): Comparison {
  const current = comparableRule(properties);
  const wanted = comparableRule(rule);
  return patch(`${fieldOf(at, rule.name)}.`, `${at.path}/${id}`, {
    type: [wanted.type, current.type],
    sourceMac: [wanted.sourceMac, current.sourceMac],
    sourceIp: [wanted.sourceIp, current.sourceIp],
    targetIp: [wanted.targetIp, current.targetIp],
    ipVersion: [wanted.ipVersion, current.ipVersion],
    icmpType: [wanted.icmpType, current.icmpType],
    icmpCode: [wanted.icmpCode, current.icmpCode],
    portRangeStart: [wanted.portRangeStart, current.portRangeStart],
    portRangeEnd: [wanted.portRangeEnd, current.portRangeEnd],
  });
}

function removal({ id, properties }: Found, at: At): Comparison {
  const name = properties.name ?? id;
  return {
    drift: [surplus(fieldOf(at, name))],
    next: { action: `remove firewall rule ${name} from NIC ${at.nic}`, method: "DELETE", path: `${at.path}/${id}` },
  };
}

const shownNic = z.object({
  name: z.string().optional(),
  firewallActive: z.boolean().optional(),
  firewallRules: z.int().optional(),
});
const shownNics = z.object({ nics: z.array(shownNic).default([]) });

/** Firewall settings of these NICs that are probably a mistake. What spec leaves out is as status shows it. */
export function adviceOfNics(nics: readonly Nic[], { shown, adopted }: Pick<Inputs, "shown" | "adopted">): string[] {
  const all = shownNics.safeParse(shown).data?.nics ?? [];
  const shownOf = (nic: string) => all.find(({ name }) => name === nic);
  const guarded = nics.map((nic) => {
    const isActive = adopted ? shownOf(nic.name)?.firewallActive : undefined;
    return { ...nic, firewallActive: nic.firewallActive ?? isActive ?? false };
  });
  return firewallAdvice(guarded, "", (nic) => shownOf(nic)?.firewallRules);
}
