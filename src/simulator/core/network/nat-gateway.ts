import { z } from "zod";
import { cidr, ipv4, port } from "../../records/fields.ts";
import type { Draft, Kind } from "../kind/kind.ts";
import { referredLan } from "../kind/reference.ts";
import { checkReserved, checkRuleAddress, keepRuleAddresses } from "./address-use.ts";
import { privateAddress } from "./addresses.ts";

/** An address of the gateway in a LAN; a bare one is of a /24. */
const gatewayIp = z
  .string()
  .transform((ip) => (ip.includes("/") ? ip : `${ip}/24`))
  .pipe(cidr);
const lans = z.array(z.object({ id: z.int().min(1), gatewayIps: z.array(gatewayIp).nullish() }));

export const natGateway: Kind = {
  type: "natgateway",
  collection: "natgateways",
  param: "natGatewayId",
  parents: ["datacenter"],
  verbs: { collection: "GP", item: "GUAD" },
  paged: false,
  schema: z.object({ name: z.string().min(1), publicIps: z.array(ipv4).min(1), lans: lans.nullish() }),
  defaults: { lans: [] },
  spans: { create: [5, 12], update: [2, 4], delete: [2, 4] },

  shape(draft) {
    // A gateway connects to the internet, so each of its addresses must be reserved.
    checkReserved(draft, "publicIps", () => true);
    keepRuleAddresses(draft, "publicIps", "rules", "publicIp");
    shapeLans(draft);
  },
};

/** Refers to its LANs. The platform picks an address of the gateway in a LAN where the body names none. */
function shapeLans(draft: Draft): void {
  const { world, next, previous } = draft;
  const known = lans.parse(previous?.properties.lans ?? []);
  const refs = new Set<string>();
  next.lans = lans.parse(next.lans).map(({ id, gatewayIps }, index) => {
    const lan = referredLan(draft, `lans[${index}].id`, id);
    if (lan === undefined) return { id };
    if (refs.has(lan.key)) draft.fault(`lans[${index}].id`, `names the LAN ${id} a second time`);
    refs.add(lan.key);
    if (gatewayIps?.length) return { id, gatewayIps };
    const kept = known.find((each) => each.id === id)?.gatewayIps;
    return { id, gatewayIps: kept ?? [`${privateAddress(world, lan)}/24`] };
  });
  draft.refs = [...refs];
}

/** A rule that maps outgoing traffic to an address of the gateway. */
export const natGatewayRule: Kind = {
  type: "natgateway-rule",
  collection: "rules",
  param: "natGatewayRuleId",
  parents: ["natgateway"],
  verbs: { collection: "GP", item: "GUAD" },
  paged: false,
  schema: z.object({
    name: z.string().min(1),
    type: z.enum(["SNAT"]).nullish(),
    protocol: z.enum(["TCP", "UDP", "ICMP", "ALL"]).nullish(),
    sourceSubnet: cidr,
    publicIp: ipv4,
    targetSubnet: cidr.nullish(),
    targetPortRange: z
      .object({ start: port, end: port })
      .refine(({ start, end }) => start <= end, { path: ["end"], message: "must not be smaller than start" })
      .nullish(),
  }),
  defaults: { type: "SNAT", protocol: "ALL" },
  spans: { create: [1, 3], update: [1, 3], delete: [1, 3] },

  shape(draft) {
    checkRuleAddress(draft, "publicIp", "publicIps");
    if (draft.next.protocol === "ICMP" && draft.next.targetPortRange != null) {
      draft.fault("targetPortRange", "cannot be combined with the protocol ICMP");
    }
  },
};
