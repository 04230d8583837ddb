import { z } from "zod";
import { refused } from "../../http/refusal.ts";
import { numberIn, textIn } from "../../store/resource.ts";
import type { Draft, Kind } from "../kind/kind.ts";
import { checkLocation } from "../kind/reference.ts";
import { checkRoomForGroup } from "../network/security-group.ts";

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
  keptOnPut: ["defaultSecurityGroupId"],
  clearedByEmptyText: ["defaultSecurityGroupId"],
  privilege: "createDataCenter",
  spans: { create: [2, 4], update: [2, 4], delete: [2, 4] },

  shape(draft) {
    const { world, next, previous } = draft;
    shapeDefaultGroup(draft);
    if (previous !== null) {
      next.version = (numberIn(previous.properties, "version") ?? 0) + 1;
      return;
    }
    checkLocation(draft);
    const site = world.counters.next("ipv6-block");
    next.version = 1;
    next.ipv6CidrBlock = `fd00:2000:${(site >> 8).toString(16)}:${(site & 0xff).toString(16).padStart(2, "0")}00::/56`;
  },

  guard(world, { key }, write) {
    const [pool] = write === "delete" ? world.resources.referrers(key, "nodepool") : [];
    if (pool !== undefined) {
      throw refused(`[VDC-14-40] The Kubernetes node pool ${textIn(pool.properties, "name")} is in the datacenter`);
    }
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

/** The security group that the datacenter calls its default: one that it has, or a new one. */
function shapeDefaultGroup(draft: Draft): void {
  const { world, key, given, next } = draft;
  const isThere = (id: string) => world.resources.get(`${key}/securitygroups/${id}`) !== undefined;
  const chosen = textIn(given, "defaultSecurityGroupId");
  const asksForNew = given.createDefaultSecurityGroup === true;
  if (asksForNew && chosen !== undefined) {
    draft.fault("createDefaultSecurityGroup", "cannot be combined with defaultSecurityGroupId");
  } else if (chosen !== undefined && !isThere(chosen)) {
    draft.fault("defaultSecurityGroupId", `the security group ${chosen} does not exist in the datacenter`);
  }
  if (next.defaultSecurityGroupId === null) delete next.defaultSecurityGroupId;
  // A client that repeats its first body does not ask for a second group.
  if (!asksForNew || isThere(textIn(next, "defaultSecurityGroupId") ?? "")) return;
  checkRoomForGroup(world, key);
  const id = world.chance.uuid("security-group");
  draft.createRelated("security-group", { key }, id, { name: "Default security group" });
  next.defaultSecurityGroupId = id;
}
