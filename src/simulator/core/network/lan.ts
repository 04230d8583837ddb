import { z } from "zod";
import { refused } from "../../http/refusal.ts";
import { holderName } from "../../records/address-holders.ts";
import { type Resource, textIn } from "../../store/resource.ts";
import type { World } from "../../world.ts";
import type { Draft, Kind } from "../kind/kind.ts";
import { addressIn, lanNetwork } from "./addresses.ts";
import { connection } from "./cross-connect.ts";
import { isInside, lanBlock } from "./ipv6.ts";

/** The types that can be in a LAN besides NICs. */
const otherTypes = ["networkloadbalancer", "applicationloadbalancer", "natgateway"];

export const lan: Kind = {
  type: "lan",
  collection: "lans",
  param: "lanId",
  parents: ["datacenter"],
  verbs: { collection: "GP", item: "GUAD" },
  paged: true,
  schema: z.object({
    name: z.string().nullish(),
    public: z.boolean().nullish(),
    pcc: z.string().nullish(),
    ipFailover: z.array(z.object({ ip: z.string(), nicUuid: z.string() })).nullish(),
    ipv6CidrBlock: z.union([z.literal("AUTO"), z.cidrv6().regex(/\/64$/)], "must be AUTO or a /64 block").nullish(),
  }),
  defaults: { public: false, ipFailover: [], pcc: null, ipv6CidrBlock: null },
  spans: { create: [1, 3], update: [2, 4], delete: [2, 4] },
  newId: freeNumber,
  links: [
    {
      collection: "nics",
      type: "nic",
      param: "nicId",
      verbs: { collection: "GP", item: "G" },
      attach(world, lan, nic) {
        if (nic.refs.includes(lan.key)) return nic;
        return {
          properties: { ...nic.properties, ...noIpv6, lan: Number(lan.id), ips: [addressIn(world, lan)] },
          refs: withLan(nic.refs, lan),
        };
      },
    },
  ],

  shape(draft) {
    const { next, key } = draft;
    const crossConnect = connection(draft);
    draft.refs = crossConnect === undefined ? [] : [crossConnect.key];
    const id = key.split("/").at(-1) ?? "";
    shapeIpv6(draft, id);
    next.ipv4CidrBlock = next.public === true ? null : lanNetwork(id);
  },

  guard(world, resource, write) {
    if (write !== "delete") return;
    if (world.resources.referrers(resource.key, "nic").length > 0) {
      throw refused("[nics] Cannot delete lan which contains nics");
    }
    const [user] = otherTypes.flatMap((type) => world.resources.referrers(resource.key, type));
    if (user !== undefined) {
      throw refused(`[${user.collection}] Cannot delete lan which is used by the ${holderName(user)}`);
    }
  },
};

/** A NIC loses its IPv6 addresses when it moves to another LAN. */
export const noIpv6 = { ipv6CidrBlock: null, ipv6Ips: null };

/** The references of a NIC with its LAN replaced. */
export const withLan = (refs: readonly string[], lan: Resource): string[] => [
  lan.key,
  ...refs.filter((ref) => !/\/lans\/[^/]+$/.test(ref)),
];

/** LAN ids are small numbers per datacenter: the smallest that is free. */
function freeNumber(world: World, parent: Resource | null): string {
  let number = 1;
  while (world.resources.get(`${parent?.key}/lans/${number}`) !== undefined) number += 1;
  return String(number);
}

/** The LAN's network inside the datacenter's, which no other LAN has. */
function shapeIpv6({ world, key, next, parent, fault }: Draft, lanId: string): void {
  const outer = textIn(parent?.properties ?? {}, "ipv6CidrBlock");
  if (outer === undefined) return;
  if (next.ipv6CidrBlock === "AUTO") next.ipv6CidrBlock = lanBlock(outer, lanId);
  const block = textIn(next, "ipv6CidrBlock");
  if (block === undefined) return;
  if (!isInside(block, outer)) fault("ipv6CidrBlock", `must lie in the block ${outer} of the datacenter`);
  for (const other of world.resources.children(parent?.key ?? "", "lans")) {
    const taken = textIn(other.properties, "ipv6CidrBlock");
    if (other.key !== key && taken !== undefined && isInside(block, taken)) {
      fault("ipv6CidrBlock", `is the block of the LAN ${other.id}`);
    }
  }
}
