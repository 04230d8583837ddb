import { BlockList, isIP, isIPv6 } from "node:net";
import { z } from "zod";
import type { Properties } from "../store/resource.ts";

const ruleSchema = z.object({
  type: z.enum(["INGRESS", "EGRESS"]).catch("INGRESS"),
  protocol: z.string().catch("ANY"),
  sourceMac: z.string().nullish(),
  sourceIp: z.string().nullish(),
  targetIp: z.string().nullish(),
  ipVersion: z.enum(["IPv4", "IPv6"]).nullish(),
  icmpType: z.number().nullish(),
  icmpCode: z.number().nullish(),
  portRangeStart: z.number().nullish(),
  portRangeEnd: z.number().nullish(),
});

/** A rule that lets traffic through. */
export type Rule = z.infer<typeof ruleSchema>;

export const ruleOf = (properties: Properties): Rule => ruleSchema.parse(properties);

export type Direction = "INGRESS" | "EGRESS";

/** The beginning of a conversation, as a firewall sees it. */
export interface Opening {
  direction: Direction;
  protocol: "TCP" | "UDP" | "ICMP" | "ICMPv6";
  source: string;
  sourceMac?: string | undefined;
  target: string;
  port: number;
}

/** All ICMP traffic is echo requests: their type and code. */
const echo = { ICMP: 8, ICMPv6: 128, code: 0 } as const;

export const allows = (rules: readonly Rule[], opening: Opening) => rules.some((rule) => matches(rule, opening));

function matches(rule: Rule, { direction, protocol, source, sourceMac, target, port }: Opening): boolean {
  if (rule.type !== direction) return false;
  if (rule.protocol !== "ANY" && rule.protocol !== protocol) return false;
  if (rule.ipVersion != null && (rule.ipVersion === "IPv6") !== isIPv6(source)) return false;
  if (rule.sourceMac != null && rule.sourceMac.toLowerCase() !== sourceMac?.toLowerCase()) return false;
  if (!covers(rule.sourceIp, source) || !covers(rule.targetIp, target)) return false;
  if (protocol === "ICMP" || protocol === "ICMPv6") {
    return (rule.icmpType ?? echo[protocol]) === echo[protocol] && (rule.icmpCode ?? echo.code) === echo.code;
  }
  return port >= (rule.portRangeStart ?? 0) && port <= (rule.portRangeEnd ?? 65_535);
}

/** Whether an address is the one, or lies in the network, that a rule names; a rule may name none. */
function covers(named: string | null | undefined, address: string): boolean {
  if (named == null) return true;
  const [network = "", bits] = named.split("/");
  if (isIP(network) === 0 || isIP(network) !== isIP(address)) return false;
  if (bits === undefined) return network === address;
  const list = new BlockList();
  list.addSubnet(network, Number(bits), isIPv6(network) ? "ipv6" : "ipv4");
  return list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
