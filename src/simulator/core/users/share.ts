import { z } from "zod";
import { type Resource, textIn } from "../../store/resource.ts";
import type { World } from "../../world.ts";
import type { Kind } from "../kind/kind.ts";

/** Types whose resources can be shared with a group. */
export const shareable = ["datacenter", "snapshot", "image", "ipblock", "pcc", "backupunit", "k8s"] as const;

/** A resource that can be shared, whatever its type. */
export function shareableById(world: World, id: string): Resource | undefined {
  for (const type of shareable) {
    const found = world.resources.byId(type, id);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The rights of a group on one resource; its id is that resource's. POST is on the item: see user-routes.ts. */
export const share: Kind = {
  type: "resource",
  collection: "shares",
  param: "resourceId",
  parents: ["group"],
  verbs: { collection: "G", item: "GUD" },
  paged: false,
  entity: false,
  schema: z.object({
    resourceId: z.string(),
    editPrivilege: z.boolean().nullish(),
    sharePrivilege: z.boolean().nullish(),
  }),
  createOnly: ["resourceId"],
  defaults: { editPrivilege: false, sharePrivilege: false },
  newId: (_world, _parent, given) => textIn(given, "resourceId") ?? "",

  shape(draft) {
    const shared = shareableById(draft.world, textIn(draft.next, "resourceId") ?? "");
    if (shared !== undefined) draft.refs = [shared.key];
  },

  view: (_world, { properties: { editPrivilege, sharePrivilege } }) => ({ editPrivilege, sharePrivilege }),
};
