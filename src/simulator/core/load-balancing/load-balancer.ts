import { z } from "zod";
import { refused } from "../../http/refusal.ts";
import { ipv4 } from "../../records/fields.ts";
import { type Resource, textIn } from "../../store/resource.ts";
import type { World } from "../../world.ts";
import type { Kind } from "../kind/kind.ts";
import { reservationFault } from "../network/address-use.ts";
import { isPublic, publicAddress } from "../network/addresses.ts";

/** The classic load balancer: one address in front of the NICs that are attached to it. */
export const loadBalancer: Kind = {
  type: "loadbalancer",
  collection: "loadbalancers",
  param: "loadbalancerId",
  parents: ["datacenter"],
  verbs: { collection: "GP", item: "GUAD" },
  paged: true,
  schema: z.object({ name: z.string().nullish(), ip: ipv4.nullish(), dhcp: z.boolean().nullish() }),
  defaults: { dhcp: true },
  keptOnPut: ["ip"],
  spans: { create: [2, 4], update: [2, 4], delete: [2, 4] },
  links: [
    {
      collection: "balancednics",
      type: "nic",
      param: "nicId",
      verbs: { collection: "GP", item: "GD" },
      attach: balance,
      detach: (_world, balancer, nic) => ({
        properties: nic.properties,
        refs: nic.refs.filter((ref) => ref !== balancer.key),
      }),
    },
  ],

  shape(draft) {
    const ip = textIn(draft.given, "ip");
    const fault = ip !== undefined && isPublic(ip) ? reservationFault(draft, ip) : undefined;
    if (fault !== undefined) draft.fault("ip", fault);
    draft.next.ip ??= publicAddress(draft.world);
  },
};

function balance(world: World, balancer: Resource, nic: Resource) {
  const other = nic.refs.map((ref) => world.resources.get(ref)).find((each) => each?.type === "loadbalancer");
  if (other !== undefined) {
    throw refused(`[VDC-14-42] The NIC ${nic.id} is behind the load balancer ${other.id} already; detach it first`);
  }
  return { properties: nic.properties, refs: [...nic.refs, balancer.key] };
}
