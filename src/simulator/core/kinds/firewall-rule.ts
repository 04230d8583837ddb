import { z } from "zod";
import { numberIn, type Properties } from "../../store/resource.ts";
import type { Kind } from "../kind.ts";
import { addressOrNetwork, mac, port } from "./network-fields.ts";

const icmp = z.int().min(0).max(254).nullish();

export const firewallRule: Kind = {
  type: "firewall-rule",
  collection: "firewallrules",
  param: "firewallruleId",
  parents: ["nic"],
  verbs: { collection: "GP", item: "GUAD" },
  paged: true,
  schema: z.object({
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
  }),
  createOnly: ["protocol"],
  defaults: { type: "INGRESS" },
  spans: { create: [1, 3], update: [1, 3], delete: [1, 3] },

  shape: (draft) => checkPorts(draft.next, draft.fault),
};

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
