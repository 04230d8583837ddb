import { z } from "zod";
import { refused } from "../../http/refusal.ts";
import { addressesOf, addressHolders, holderName } from "../../records/address-holders.ts";
import { numberIn, textsIn } from "../../store/resource.ts";
import type { World } from "../../world.ts";
import type { Kind } from "../kind/kind.ts";
import { checkLocation } from "../kind/reference.ts";
import { publicAddress } from "./addresses.ts";

export const ipblock: Kind = {
  type: "ipblock",
  collection: "ipblocks",
  param: "ipblockId",
  parents: [""],
  verbs: { collection: "GP", item: "GUAD" },
  paged: true,
  schema: z.object({ name: z.string().nullish(), location: z.string(), size: z.int().min(1).max(10_000) }),
  createOnly: ["location", "size"],
  privilege: "reserveIp",
  spans: { create: [1, 3], update: [2, 4], delete: [2, 4] },

  shape(draft) {
    const { world, given, next, previous } = draft;
    if (previous !== null) return;
    checkLocation(draft);
    next.ips = Array.from({ length: numberIn(given, "size") ?? 0 }, () => publicAddress(world));
  },

  guard(world, { properties }, write) {
    if (write !== "delete") return;
    const ips = textsIn(properties, "ips");
    const [nicUse] = consumers(world, ips);
    if (nicUse !== undefined) {
      const { ip, nicId, serverName, serverId } = nicUse;
      throw refused(
        `[VDC-14-40] The address ${ip} is in use by the NIC ${nicId} of the server ${serverName} (${serverId}); ` +
          "give the NIC another address first",
      );
    }
    for (const holder of addressHolders(world.resources)) {
      const ip = addressesOf(holder).find((each) => ips.includes(each));
      if (ip === undefined) continue;
      throw refused(`[VDC-14-40] The address ${ip} is in use by the ${holderName(holder)}; give it another one first`);
    }
  },

  view: (world, { properties }) => ({ ...properties, ipConsumers: consumers(world, textsIn(properties, "ips")) }),
};

/** Which NICs use the addresses of a block. */
function consumers(world: World, ips: string[]) {
  const own = new Set(ips);
  return [...world.resources.ofType("nic")].flatMap((nic) => {
    const used = textsIn(nic.properties, "ips").filter((ip) => own.has(ip));
    if (used.length === 0) return [];
    const server = world.resources.get(nic.parent);
    const datacenter = server && world.resources.get(server.parent);
    return used.map((ip) => ({
      ip,
      mac: nic.properties.mac,
      nicId: nic.id,
      serverId: server?.id,
      serverName: server?.properties.name,
      datacenterId: datacenter?.id,
      datacenterName: datacenter?.properties.name,
      k8sNodePoolUuid: null,
      k8sClusterUuid: null,
    }));
  });
}
