import { isIPv6 } from "node:net";
import { z } from "zod";
import { ipv4, mac } from "../../records/fields.ts";
import { datacenterOf, numberIn, type Resource, textIn, textsIn } from "../../store/resource.ts";
import type { Draft, Kind } from "../kind/kind.ts";
import { checkReserved } from "./address-use.ts";
import { addressIn, lanNetwork } from "./addresses.ts";
import { ipv6Of, isInside, nicBlock } from "./ipv6.ts";
import { noIpv6, withLan } from "./lan.ts";
import { assignedSecurityGroups } from "./security-group.ts";

export const nic: Kind = {
  type: "nic",
  collection: "nics",
  param: "nicId",
  parents: ["server"],
  verbs: { collection: "GP", item: "GUAD" },
  paged: true,
  schema: z.object({
    name: z.string().nullish(),
    lan: z.int().min(1),
    ips: z.array(ipv4).nullish(),
    dhcp: z.boolean().nullish(),
    dhcpv6: z.boolean().nullish(),
    ipv6CidrBlock: z.cidrv6("must be an IPv6 network").regex(/\/80$/, "must be a /80 block").nullish(),
    ipv6Ips: z.array(z.string().refine(isIPv6, "must be an IPv6 address")).max(50).nullish(),
    firewallActive: z.boolean().nullish(),
    firewallType: z.enum(["INGRESS", "EGRESS", "BIDIRECTIONAL"]).nullish(),
    mac: mac.nullish(),
  }),
  createOnly: ["mac"],
  defaults: { dhcp: true, firewallActive: false, firewallType: "INGRESS" },
  keptOnPut: ["ips"],
  spans: { create: [1, 3], update: [2, 4], delete: [1, 3] },
  links: [assignedSecurityGroups],

  shape(draft) {
    const { world, next, previous, parent, given } = draft;
    if (parent === null) return;
    const lan = lanFor(draft, parent);
    draft.refs = withLan(draft.refs, lan);
    const asked = textsIn(given, "ips");
    const moved = previous !== null && previous.properties.lan !== next.lan;
    checkReserved(draft, "ips");
    // An empty list, null, and a move to another LAN all mean: the platform picks an address.
    const keeps = previous !== null && !moved && next.ips === previous.properties.ips;
    if (asked.length === 0 && !keeps) next.ips = [addressIn(world, lan)];
    if (moved) Object.assign(next, noIpv6, given);
    if (previous === null) addDevice(draft, parent);
    checkIpv6(draft, lan);
  },

  view: (world, nic) => ({ ...nic.properties, ...ipv6Of(world, nic) }),
};

/** The next device of the server. */
function addDevice({ world, next }: Draft, server: Resource): void {
  const number = world.counters.next("mac");
  next.mac ??= `02:01:${[24, 16, 8, 0].map((shift) => hex((number >>> shift) & 0xff)).join(":")}`;
  const siblings = [...world.resources.children(server.key, "nics")];
  const deviceNumber = Math.max(0, ...siblings.map((each) => numberIn(each.properties, "deviceNumber") ?? 0)) + 1;
  Object.assign(next, { deviceNumber, pciSlot: deviceNumber + 5 });
}

/** Checks that the IPv6 addresses of the body are in the network of the LAN. */
function checkIpv6({ given, next, fault }: Draft, lan: Resource): void {
  const outer = textIn(lan.properties, "ipv6CidrBlock");
  const block = nicBlock(lan, next);
  const own = textIn(given, "ipv6CidrBlock");
  if (own !== undefined && block !== own) {
    fault("ipv6CidrBlock", outer ? `must lie in the block ${outer} of the LAN` : `the LAN ${lan.id} has no IPv6 block`);
  }
  for (const [index, address] of textsIn(given, "ipv6Ips").entries()) {
    if (block !== undefined && isInside(address, block)) continue;
    fault(
      `ipv6Ips[${index}]`,
      block ? `must lie in the block ${block} of the NIC` : `the LAN ${lan.id} has no IPv6 block`,
    );
  }
}

const hex = (byte: number) => byte.toString(16).padStart(2, "0");

/** The LAN that the NIC names; an unknown number creates the LAN in the same request. */
function lanFor(draft: Draft, server: Resource): Resource {
  const { world, next } = draft;
  const id = String(numberIn(next, "lan"));
  const datacenter = world.resources.get(datacenterOf(server.key));
  if (datacenter === undefined) throw new Error(`${server.key} has no datacenter`);
  return (
    world.resources.get(`${datacenter.key}/lans/${id}`) ??
    draft.createRelated("lan", datacenter, id, { ipv4CidrBlock: lanNetwork(id) })
  );
}
