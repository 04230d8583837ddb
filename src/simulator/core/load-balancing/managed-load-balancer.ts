import { z } from "zod";
import { cidr, ipv4 } from "../../records/fields.ts";
import { textsIn } from "../../store/resource.ts";
import type { Draft, Kind } from "../kind/kind.ts";
import { referredLan } from "../kind/reference.ts";
import { checkReserved, keepRuleAddresses } from "../network/address-use.ts";
import { privateAddress } from "../network/addresses.ts";

/** The fields that Network and Application Load Balancers share: all but their rules. */
const managed = {
  parents: ["datacenter"],
  verbs: { collection: "GP", item: "GUAD" },
  paged: true,
  schema: z.object({
    name: z.string().min(1),
    listenerLan: z.int().min(1),
    targetLan: z.int().min(1),
    ips: z.array(ipv4).nullish(),
    lbPrivateIps: z.array(cidr).nullish(),
    centralLogging: z.boolean().nullish(),
    loggingFormat: z.string().nullish(),
  }),
  defaults: { ips: [], centralLogging: false },
  keptOnPut: ["lbPrivateIps"],
  spans: { create: [5, 12], update: [2, 4], delete: [2, 4] },
  shape,
} satisfies Partial<Kind>;

export const networkLoadBalancer: Kind = {
  ...managed,
  type: "networkloadbalancer",
  collection: "networkloadbalancers",
  param: "networkLoadBalancerId",
};

export const applicationLoadBalancer: Kind = {
  ...managed,
  type: "applicationloadbalancer",
  collection: "applicationloadbalancers",
  param: "applicationLoadBalancerId",
  // The platform does not list them among the entities of a datacenter.
  entity: false,
};

function shape(draft: Draft): void {
  const { world, given, next, previous } = draft;
  const listener = referredLan(draft, "listenerLan", next.listenerLan);
  const target = referredLan(draft, "targetLan", next.targetLan);
  if (next.listenerLan === next.targetLan) draft.fault("targetLan", "must be another LAN than listenerLan");
  checkReserved(draft, "ips");
  keepRuleAddresses(draft, "ips", "forwardingrules", "listenerIp");
  if (listener === undefined || target === undefined) return;
  draft.refs = [listener.key, target.key];
  // An empty list, null, and a move to another LAN all mean: the platform picks an address.
  const moved = previous?.properties.targetLan !== next.targetLan && given.lbPrivateIps === undefined;
  if (moved || textsIn(next, "lbPrivateIps").length === 0) {
    next.lbPrivateIps = [`${privateAddress(world, target)}/24`];
  }
}
