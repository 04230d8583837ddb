import { z } from "zod";
import type { Kind } from "../kind/kind.ts";
import { hotPlugs } from "./image.ts";
import { licences } from "./volume.ts";

/** Properties that are copied from the volume, with the values for a volume that lacks them. */
const fromVolume = {
  licenceType: "UNKNOWN",
  applicationType: "UNKNOWN",
  exposeSerial: false,
  requireLegacyBios: true,
  ...Object.fromEntries(Object.keys(hotPlugs).map((flag) => [flag, false])),
};

/** A full copy of a volume, made by a call on the volume. It outlives the volume and its datacenter. */
export const snapshot: Kind = {
  type: "snapshot",
  collection: "snapshots",
  param: "snapshotId",
  parents: [""],
  verbs: { collection: "G", item: "GUAD" },
  paged: false,
  schema: z.object({
    name: z.string().nullish(),
    description: z.string().nullish(),
    secAuthProtection: z.boolean().nullish(),
    licenceType: z.enum(licences).nullish(),
    applicationType: z.string().nullish(),
    exposeSerial: z.boolean().nullish(),
    requireLegacyBios: z.boolean().nullish(),
    ...hotPlugs,
  }),
  defaults: { description: "", secAuthProtection: false },
  keptOnPut: ["name", ...Object.keys(fromVolume)],
  privilege: "createSnapshot",
  spans: { create: [4, 8], update: [2, 4], delete: [2, 4] },

  shape({ world, next, previous, holder: volume }) {
    if (previous !== null || volume === null) return;
    next.location = world.resources.get(volume.parent)?.properties.location;
    next.size = volume.properties.size;
    for (const [name, fallback] of Object.entries(fromVolume)) next[name] ??= volume.properties[name] ?? fallback;
  },
};
