import { asJson, asList, type Json } from "./json.ts";
import type { Resource } from "./resources.ts";

/** What is known of the landscape as a whole. */
export interface Whole {
  /** Volumes that a server boots from, by their ids. */
  boots: ReadonlySet<string>;
  /** Addresses of IPBlocks: the block, and the place in it. */
  addresses: ReadonlyMap<string, { block: string; index: number }>;
}

export function wholeOf(resources: readonly Resource[]): Whole {
  const addresses = new Map<string, { block: string; index: number }>();
  const boots = new Set<string>();
  for (const { kind, id, raw } of resources) {
    const properties = asJson(raw.properties);
    if (kind.kind === "Server") boots.add(String(asJson(properties.bootVolume).id));
    if (kind.kind !== "IPBlock" || !Array.isArray(properties.ips)) continue;
    for (const [index, ip] of properties.ips.entries()) addresses.set(String(ip), { block: id, index });
  }
  return { boots, addresses };
}

type Reshape = (raw: Json, whole: Whole) => Json;

/** What the platform shows in another structure than spec has it, told in the structure of spec. */
export const reshaped: Readonly<Record<string, Reshape>> = {
  Server(raw) {
    const { type, bootVolume, ...properties } = asJson(raw.properties);
    const { cores, ram, cpuFamily, availabilityZone, ...sizeless } = properties;
    const own = type === "CUBE" ? sizeless : type === "VCPU" ? { ...properties, cpuFamily: undefined } : properties;
    const boot = asList(asJson(asJson(raw.entities).volumes).items).find(({ id }) => id === asJson(bootVolume).id);
    const inline = type === "CUBE" ? cubeVolume(asJson(boot)) : undefined;
    return {
      ...raw,
      properties: { ...own, type, ...(inline ? { bootVolume: inline } : { bootVolumeId: asJson(bootVolume).id }) },
    };
  },
  Volume(raw, { boots }) {
    const properties = asJson(raw.properties);
    const { bootServer, type } = properties;
    // A volume that a server boots from is named by the server.
    const attachTo = bootServer != null && !boots.has(String(raw.id)) ? { serverId: bootServer } : undefined;
    return { ...raw, properties: { ...properties, type: type === "SSD" ? "SSD Premium" : type, attachTo } };
  },
  Lan(raw) {
    const properties = asJson(raw.properties);
    return { ...raw, properties: { ...properties, ipv6: properties.ipv6CidrBlock } };
  },
  LogPipeline(raw) {
    const properties = asJson(raw.properties);
    const logs = asList(properties.logs).map(({ destinations, retentionInDays, source, protocol, ...log }) => {
      const days = asList(destinations)[0]?.retentionInDays ?? retentionInDays;
      const isHttp = source === "generic" && protocol === "http";
      return { ...log, protocol, source: isHttp ? "http" : source, retentionInDays: days === 0 ? "unlimited" : days };
    });
    return { ...raw, properties: { ...properties, logs } };
  },
};

/** The direct-attached volume of a Cube: its template fixes the size. */
function cubeVolume(volume: Json): Json {
  const { size: _, type: __, ...properties } = asJson(volume.properties);
  return properties;
}
