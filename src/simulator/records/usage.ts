import { numberIn, type Resource, textIn, textsIn } from "../store/resource.ts";
import type { Resources } from "../store/resources.ts";
import { addressesOf, addressHolders } from "./address-holders.ts";

const nothing = {
  coresProvisioned: 0,
  ramProvisioned: 0,
  hddVolumeProvisioned: 0,
  ssdVolumeProvisioned: 0,
  dasVolumeProvisioned: 0,
  reservedIpsOnContract: 0,
  k8sClustersProvisioned: 0,
  nlbProvisioned: 0,
  natGatewayProvisioned: 0,
};

export type Counts = typeof nothing;

/** The usage of the contract. A resource counts from the moment its creation is accepted. */
export interface Usage {
  /** Kept up to date with every change, so that asking costs nothing however much exists. */
  counts(): Counts;
  /** Addresses of own IP blocks that something uses. */
  reservedIpsInUse(): number;
}

export function createUsage(resources: Resources): Usage {
  const counts = { ...nothing };
  const add = (resource: Resource | undefined, sign: 1 | -1) => {
    for (const [name, amount] of resource === undefined ? [] : parts(resource)) counts[name] += sign * amount;
  };
  resources.watch((before, after) => {
    add(before, -1);
    add(after, 1);
  });
  return {
    counts: () => ({ ...counts }),
    reservedIpsInUse() {
      const reserved = new Set<string>();
      for (const { properties } of resources.ofType("ipblock")) {
        for (const ip of textsIn(properties, "ips")) reserved.add(ip);
      }
      const inUse = new Set<string>();
      for (const holder of addressHolders(resources)) {
        for (const ip of addressesOf(holder)) if (reserved.has(ip)) inUse.add(ip);
      }
      return inUse.size;
    },
  };
}

/** The numbers that one resource adds to the counts. */
function parts({ type, properties }: Resource): [keyof Counts, number][] {
  switch (type) {
    case "server":
      return [
        ["coresProvisioned", numberIn(properties, "cores") ?? 0],
        ["ramProvisioned", numberIn(properties, "ram") ?? 0],
      ];
    case "volume":
      return [[diskCount(textIn(properties, "type")), Math.round((numberIn(properties, "size") ?? 0) * 1024)]];
    case "ipblock":
      return [["reservedIpsOnContract", textsIn(properties, "ips").length]];
    case "k8s":
      return [["k8sClustersProvisioned", 1]];
    case "networkloadbalancer":
      return [["nlbProvisioned", 1]];
    case "natgateway":
      return [["natGatewayProvisioned", 1]];
    default:
      return [];
  }
}

function diskCount(type: string | undefined): keyof Counts {
  if (type === "DAS") return "dasVolumeProvisioned";
  return type === "HDD" ? "hddVolumeProvisioned" : "ssdVolumeProvisioned";
}
