import { z } from "zod";
import { errorCode, refusal } from "../../http/refusal.ts";
import type { Kind } from "../kind/kind.ts";

export const hotPlugs = {
  cpuHotPlug: z.boolean().nullish(),
  cpuHotUnplug: z.boolean().nullish(),
  ramHotPlug: z.boolean().nullish(),
  ramHotUnplug: z.boolean().nullish(),
  nicHotPlug: z.boolean().nullish(),
  nicHotUnplug: z.boolean().nullish(),
  discVirtioHotPlug: z.boolean().nullish(),
  discVirtioHotUnplug: z.boolean().nullish(),
  discScsiHotPlug: z.boolean().nullish(),
  discScsiHotUnplug: z.boolean().nullish(),
};

export const image: Kind = {
  type: "image",
  collection: "images",
  param: "imageId",
  parents: [""],
  verbs: { collection: "G", item: "GUAD" },
  paged: false,
  schema: z.object({ name: z.string().nullish(), description: z.string().nullish(), ...hotPlugs }),
  spans: { create: [2, 4], update: [2, 4], delete: [2, 4] },
  guard(_world, { properties }) {
    if (properties.public === true) {
      throw refusal(403, errorCode.denied, "Access denied: a public image cannot be changed or deleted");
    }
  },
};

export const template: Kind = {
  type: "template",
  collection: "templates",
  param: "templateId",
  parents: [""],
  verbs: { collection: "G", item: "G" },
  paged: false,
  schema: z.object({}),
};

export const location: Kind = {
  type: "location",
  collection: "locations",
  param: "locationId",
  parents: [""],
  // Ids contain slashes: the paths are in single-routes.ts.
  routed: false,
  verbs: { collection: "G", item: "G" },
  paged: false,
  schema: z.object({}),
};
