import { z } from "zod";
import { numberIn } from "../../store/resource.ts";
import type { Kind } from "../kind.ts";

const port = z.int().min(1).max(65_535).nullish();
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
    sourceMac: z.string().nullish(),
    sourceIp: z.string().nullish(),
    targetIp: z.string().nullish(),
    ipVersion: z.enum(["IPv4", "IPv6"]).nullish(),
    icmpType: icmp,
    icmpCode: icmp,
    portRangeStart: port,
    portRangeEnd: port,
  }),
  createOnly: ["protocol"],
  defaults: { type: "INGRESS" },
  spans: { create: [1, 3], update: [1, 3], delete: [1, 3] },

  shape(draft) {
    const start = numberIn(draft.next, "portRangeStart");
    const end = numberIn(draft.next, "portRangeEnd");
    if (start === undefined && end === undefined) return;
    if (start === undefined) draft.fault("portRangeStart", "is needed together with portRangeEnd");
    else if (end === undefined) draft.fault("portRangeEnd", "is needed together with portRangeStart");
    else if (end < start) draft.fault("portRangeEnd", "must not be smaller than portRangeStart");
    if (draft.next.protocol !== "TCP" && draft.next.protocol !== "UDP") {
      draft.fault("portRangeStart", "is for the protocols TCP and UDP only");
    }
  },
};
