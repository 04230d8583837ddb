import { z } from "zod";
import { privilegeFlags } from "../../users.ts";
import type { Kind } from "../kind/kind.ts";

/**
 * Users who share privileges; the group refers to them. Members are added and removed by routes of their own, at once.
 */
export const group: Kind = {
  type: "group",
  collection: "um/groups",
  param: "groupId",
  parents: [""],
  verbs: { collection: "GP", item: "GUD" },
  paged: false,
  schema: z.object({
    name: z.string().min(1),
    ...Object.fromEntries(privilegeFlags.map((flag) => [flag, z.boolean().nullish()])),
  }),
  defaults: Object.fromEntries(privilegeFlags.map((flag) => [flag, false])),
  links: [
    {
      collection: "users",
      type: "user",
      param: "userId",
      verbs: { collection: "G", item: "" },
      paged: false,
      shared: true,
    },
  ],
};
