import type { Call, Reply } from "../http/exchange.ts";
import { missing } from "../http/refusal.ts";
import type { Host } from "../managed/service.ts";
import { pageReply } from "../managed/view.ts";
import { defaultRegion } from "../s3/buckets/records.ts";
import type { World } from "../world.ts";

export const managementHost: Host = { path: "object-storage-management", privilege: "s3Privilege" };

/** Where buckets can be, with the location of each. */
export const regions: Readonly<Record<string, string>> = {
  [defaultRegion]: "de/fra",
  "eu-central-2": "de/txl",
  "eu-central-3": "de/txl",
  "eu-central-4": "de/fra",
  "eu-south-2": "es/vit",
  "us-central-1": "us/mci",
};

/** All regions have the address of the same object storage. */
function shownRegion(world: World, { origin }: Call, id: string) {
  const endpoint = world.objectStorageUrl();
  return {
    id,
    type: "region",
    href: `${origin}/${managementHost.path}/regions/${id}`,
    properties: {
      version: 2,
      endpoint,
      website: endpoint,
      capability: { iam: false, s3select: false },
      storageClasses: ["STANDARD"],
      location: regions[id],
    },
  };
}

export const listRegions = (world: World, call: Call): Reply =>
  pageReply(call, managementHost, "/regions", Object.keys(regions), (id) => shownRegion(world, call, id));

export function readRegion(world: World, call: Call): Reply {
  const id = call.params.regionName ?? "";
  if (!Object.hasOwn(regions, id)) throw missing();
  return { status: 200, body: shownRegion(world, call, id) };
}
