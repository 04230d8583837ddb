import { z } from "zod";
import { numberIn, type Properties } from "../../store/resource.ts";
import { addressOrNetwork, mac, port } from "./fields.ts";

const icmp = z.int().min(0).max(254).nullish();

export const firewallRuleSchema = z.object({
  name: z.string().nullish(),
  protocol: z.enum(["TCP", "UDP", "ICMP", "ICMPv6", "GRE", "VRRP", "ESP", "AH", "ANY"]),
  type: z.enum(["INGRESS", "EGRESS"]).nullish(),
  sourceMac: mac.nullish(),
  sourceIp: addressOrNetwork.nullish(),
  targetIp: addressOrNetwork.nullish(),
  ipVersion: z.enum(["IPv4", "IPv6"]).nullish(),
  icmpType: icmp,
  icmpCode: icmp,
  portRangeStart: port.nullish(),
  portRangeEnd: port.nullish(),
});

export const flowLogSchema = z.object({
  name: z.string().min(1),
  action: z.enum(["ACCEPTED", "REJECTED", "ALL", "ANY"]),
  direction: z.enum(["INGRESS", "EGRESS", "BIDIRECTIONAL"]),
  bucket: z.string(),
});

/** Ports come as a range, both ends or none, for the protocols that have ports. */
export function checkPorts(rule: Properties, fault: (property: string, message: string) => void): void {
  const start = numberIn(rule, "portRangeStart");
  const end = numberIn(rule, "portRangeEnd");
  if (start === undefined && end === undefined) return;
  if (start === undefined) fault("portRangeStart", "is needed together with portRangeEnd");
  else if (end === undefined) fault("portRangeEnd", "is needed together with portRangeStart");
  else if (end < start) fault("portRangeEnd", "must not be smaller than portRangeStart");
  if (rule.protocol !== "TCP" && rule.protocol !== "UDP") {
    fault("portRangeStart", "is for the protocols TCP and UDP only");
  }
}
