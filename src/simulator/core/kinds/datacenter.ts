import { z } from "zod";
import { numberIn, textIn } from "../../store/resource.ts";
import type { Kind } from "../kind.ts";

export const datacenter: Kind = {
  type: "datacenter",
  collection: "datacenters",
  param: "datacenterId",
  parents: [""],
  verbs: { collection: "GP", item: "GUAD" },
  paged: true,
  schema: z.object({
    name: z.string().min(1),
    description: z.string().nullish(),
    location: z.string(),
    secAuthProtection: z.boolean().nullish(),
    createDefaultSecurityGroup: z.boolean().nullish(),
    defaultSecurityGroupId: z.string().nullish(),
  }),
  createOnly: ["location"],
  writeOnly: ["createDefaultSecurityGroup"],
  defaults: { description: "", secAuthProtection: false },
  spans: { create: [2, 4], update: [2, 4], delete: [2, 4] },

  shape(draft) {
    const { world, given, next, previous } = draft;
    if (given.createDefaultSecurityGroup === true && given.defaultSecurityGroupId !== undefined) {
      draft.fault("createDefaultSecurityGroup", "cannot be combined with defaultSecurityGroupId");
    }
    if (previous !== null) {
      next.version = (numberIn(previous.properties, "version") ?? 0) + 1;
      return;
    }
    const location = textIn(given, "location") ?? "";
    if (world.resources.get(`locations/${location}`) === undefined) {
      draft.fault("location", `the location "${location}" does not exist`);
    }
    const site = world.counters.next("ipv6-block");
    next.version = 1;
    next.ipv6CidrBlock = `fd00:2000:${(site >> 8).toString(16)}:${(site & 0xff).toString(16).padStart(2, "0")}00::/56`;
  },

  view(world, { properties }) {
    const offered = world.resources.get(`locations/${textIn(properties, "location")}`)?.properties;
    return {
      ...properties,
      features: offered?.features ?? [],
      cpuArchitecture: offered?.cpuArchitecture ?? [],
      gpuArchitecture: offered?.gpuArchitecture ?? [],
    };
  },
};
