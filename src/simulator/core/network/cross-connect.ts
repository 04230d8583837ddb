import { z } from "zod";
import { refused } from "../../http/refusal.ts";
import { type Resource, textIn } from "../../store/resource.ts";
import type { World } from "../../world.ts";
import type { Draft, Kind } from "../kind/kind.ts";
import { referred } from "../kind/reference.ts";

/** A private network between datacenters of one location: what it connects follows from the LANs that name it. */
export const crossConnect: Kind = {
  type: "pcc",
  collection: "pccs",
  param: "pccId",
  parents: [""],
  verbs: { collection: "GP", item: "GAD" },
  paged: false,
  schema: z.object({ name: z.string().nullish(), description: z.string().nullish() }),
  privilege: "createPcc",
  spans: { create: [1, 3], update: [1, 3], delete: [1, 3] },
  visibleAtOnce: true,

  guard(world, { key }, write) {
    const [peer] = write === "delete" ? peersOf(world, key) : [];
    if (peer === undefined) return;
    throw refused(
      `[peers] Cannot delete pcc which connects lans: the LAN ${peer.id} of the datacenter ${peer.datacenterId} ` +
        "is connected to it",
    );
  },

  view(world, { key, properties }) {
    const peers = peersOf(world, key);
    const location = peers[0]?.location;
    const connectable = [...world.resources.ofType("datacenter")].filter(
      (each) => location === undefined || each.properties.location === location,
    );
    return {
      ...properties,
      peers,
      connectableDatacenters: connectable.map((each) => ({
        id: each.id,
        name: each.properties.name,
        location: each.properties.location,
      })),
    };
  },
};

/** The LANs that a cross connect joins. */
function peersOf(world: World, key: string) {
  return world.resources.referrers(key, "lan").map((lan) => {
    const datacenter = world.resources.get(lan.parent);
    return {
      id: lan.id,
      name: lan.properties.name,
      datacenterId: datacenter?.id,
      datacenterName: datacenter?.properties.name,
      location: datacenter?.properties.location,
    };
  });
}

/** The cross connect that the property `pcc` of a LAN names. Notes a fault where the LAN cannot be connected. */
export function connection(draft: Draft): Resource | undefined {
  const { world, next, parent, previous } = draft;
  const id = textIn(next, "pcc");
  if (id === undefined) return undefined;
  const found = referred(draft, `pccs/${id}`);
  if (found === undefined) {
    draft.fault("pcc", `the cross connect ${id} does not exist`);
    return undefined;
  }
  if (next.public === true) draft.fault("pcc", "only a private LAN can be connected");
  const location = parent?.properties.location;
  const far = peersOf(world, found.key).find((peer) => peer.location !== location);
  if (far !== undefined && !previous?.refs.includes(found.key)) {
    draft.fault("pcc", `the cross connect ${id} connects datacenters in ${far.location}, not in ${location}`);
  }
  return found;
}
