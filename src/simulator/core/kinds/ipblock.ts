import { z } from "zod";
import { numberIn, textIn, textsIn } from "../../store/resource.ts";
import type { World } from "../../world.ts";
import { publicAddress } from "../addresses.ts";
import type { Kind } from "../kind.ts";

export const ipblock: Kind = {
  type: "ipblock",
  collection: "ipblocks",
  param: "ipblockId",
  parents: [""],
  verbs: { collection: "GP", item: "GUAD" },
  paged: true,
  schema: z.object({ name: z.string().nullish(), location: z.string(), size: z.int().min(1).max(10_000) }),
  createOnly: ["location", "size"],
  spans: { create: [1, 3], update: [2, 4], delete: [2, 4] },

  shape(draft) {
    const { world, given, next, previous } = draft;
    if (previous !== null) return;
    if (world.resources.get(`locations/${textIn(given, "location")}`) === undefined) {
      draft.fault("location", `the location "${textIn(given, "location")}" does not exist`);
    }
    next.ips = Array.from({ length: numberIn(given, "size") ?? 0 }, () => publicAddress(world));
  },

  view: (world, { properties }) => ({ ...properties, ipConsumers: consumers(world, textsIn(properties, "ips")) }),
};

/** Which NICs use the addresses of a block. */
function consumers(world: World, ips: string[]) {
  const own = new Set(ips);
  const found: object[] = [];
  for (const nic of world.resources.ofType("nic")) {
    const used = textsIn(nic.properties, "ips").filter((ip) => own.has(ip));
    if (used.length === 0) continue;
    const server = world.resources.get(nic.parent);
    const datacenter = server && world.resources.get(server.parent);
    for (const ip of used) {
      found.push({
        ip,
        mac: nic.properties.mac,
        nicId: nic.id,
        serverId: server?.id,
        serverName: server?.properties.name,
        datacenterId: datacenter?.id,
        datacenterName: datacenter?.properties.name,
        k8sNodePoolUuid: null,
        k8sClusterUuid: null,
      });
    }
  }
  return found;
}
