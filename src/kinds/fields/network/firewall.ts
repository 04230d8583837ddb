import { z } from "zod";
import { formed, line, list, whole } from "../fields.ts";
import { either, joined, validations } from "../rules.ts";
import { addressOrNetwork, oneSpelling } from "./addresses.ts";

const together = "portRangeStart and portRangeEnd are needed together; for one port, set both to it";

const rules = joined(
  either(
    "has(self.portRangeStart)",
    [
      { rule: "has(self.portRangeEnd)", message: together },
      {
        rule: "!has(self.portRangeEnd) || self.portRangeStart <= self.portRangeEnd",
        message: "portRangeEnd must not be less than portRangeStart",
      },
      {
        rule: "self.protocol in ['TCP', 'UDP']",
        message: "portRangeStart and portRangeEnd are for TCP and UDP only: remove them or change protocol",
      },
    ],
    [{ rule: "!has(self.portRangeEnd)", message: together }],
  ),
  {
    rule: "!(has(self.icmpType) || has(self.icmpCode)) || self.protocol in ['ICMP', 'ICMPv6']",
    message: "icmpType and icmpCode are for ICMP and ICMPv6 only: remove them or change protocol",
  },
);

const firewallRule = z
  .object({
    name: line(100).describe("Name of the rule, unique within the NIC."),
    protocol: z
      .enum(["TCP", "UDP", "ICMP", "ICMPv6", "GRE", "VRRP", "ESP", "AH", "ANY"])
      .describe("Protocol of the allowed traffic. A change replaces the rule."),
    type: z.enum(["INGRESS", "EGRESS"]).default("INGRESS").describe("Direction of the traffic."),
    sourceMac: formed(
      /^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$/,
      17,
      "must be a MAC address, for example 02:01:0a:00:00:01",
    )
      .optional()
      .describe("MAC address that the traffic comes from. Default: any."),
    sourceIp: addressOrNetwork().optional().describe("Address or network the traffic comes from. Default: any."),
    targetIp: addressOrNetwork()
      .optional()
      .describe("Address or network the traffic goes to. Default: any address of the NIC."),
    ipVersion: z
      .enum(["IPv4", "IPv6"])
      .optional()
      .describe("IP version of the rule. Default: chosen by the platform, from the addresses if there are any."),
    icmpType: whole(0, 254).optional().describe("ICMP type. Default: any."),
    icmpCode: whole(0, 254).optional().describe("ICMP code. Default: any."),
    portRangeStart: whole(1, 65_535).optional().describe("First port, for TCP and UDP. Default: all ports."),
    portRangeEnd: whole(1, 65_535).optional().describe("Last port; the same as portRangeStart for one port."),
  })
  .meta(validations(rules));
export type FirewallRule = z.output<typeof firewallRule>;

/** The firewall fields of a NIC, for every schema with NICs. */
export const firewallFields = {
  firewallActive: z
    .boolean()
    .optional()
    .describe(
      "The NIC's firewall is on if true. It refuses all traffic that no rule allows; without rules, all traffic. Default: false; on an adopted resource, left unchanged.",
    ),
  firewallType: z
    .enum(["INGRESS", "EGRESS", "BIDIRECTIONAL"])
    .optional()
    .describe("Direction that the firewall guards. If unset, left unchanged; a new NIC has INGRESS."),
  firewallRules: list(firewallRule, { max: 50, unique: "name" })
    .optional()
    .describe(
      "Traffic that the firewall allows. The list is complete: rules of the NIC that are not in it are removed. If unset, rules are left unchanged.",
    ),
};

/** A rule as the platform shows it. */
export const wireRule = z.object({
  name: z.string().nullish(),
  protocol: z.string().nullish(),
  type: z.string().nullish(),
  sourceMac: z.string().nullish(),
  sourceIp: z.string().nullish(),
  targetIp: z.string().nullish(),
  ipVersion: z.string().nullish(),
  icmpType: z.int().nullish(),
  icmpCode: z.int().nullish(),
  portRangeStart: z.int().nullish(),
  portRangeEnd: z.int().nullish(),
});

/**
 * A rule in the form in which rules are compared. An unset field means "any" and is compared as such; an unset IP
 * version is the platform's choice and is not compared.
 */
export const comparableRule = ({ ipVersion, ...rule }: z.output<typeof wireRule>) => ({
  type: rule.type ?? "INGRESS",
  sourceMac: rule.sourceMac?.toLowerCase() ?? null,
  sourceIp: oneSpelling(rule.sourceIp) ?? null,
  targetIp: oneSpelling(rule.targetIp) ?? null,
  ipVersion: ipVersion ?? undefined,
  icmpType: rule.icmpType ?? null,
  icmpCode: rule.icmpCode ?? null,
  portRangeStart: rule.portRangeStart ?? null,
  portRangeEnd: rule.portRangeEnd ?? null,
});

/** A rule as the platform expects it. */
export const ruleProperties = ({ sourceMac, sourceIp, targetIp, ...rule }: FirewallRule) => ({
  ...rule,
  sourceMac: sourceMac?.toLowerCase(),
  sourceIp: oneSpelling(sourceIp),
  targetIp: oneSpelling(targetIp),
});

interface Guarded {
  name: string;
  firewallActive: boolean;
  firewallRules?: readonly unknown[] | undefined;
}

/**
 * Firewall settings that are allowed but probably a mistake. `unmanagedRules` returns the number of a NIC's rules, for a
 * NIC whose rules spec does not manage.
 */
export function firewallAdvice(
  nics: readonly Guarded[],
  prefix = "",
  unmanagedRules: (nic: string) => number | undefined = () => undefined,
): string[] {
  return nics.flatMap(({ name, firewallActive, firewallRules }) => {
    const rules = firewallRules?.length ?? unmanagedRules(name) ?? 0;
    if (firewallActive && rules === 0) {
      return [`${prefix}nics[${name}].firewallActive: without firewallRules the firewall refuses all traffic`];
    }
    if (firewallActive || !firewallRules?.length) return [];
    return [`${prefix}nics[${name}].firewallRules: the rules have no effect while firewallActive is false`];
  });
}
