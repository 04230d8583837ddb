import type { Resource } from "../diagnostics/landscape/resources.ts";
import { asJson, asList, type Json } from "../kinds/fields/compare.ts";

/** Facts about the whole landscape. */
export interface LandscapeFacts {
  /** Ids of the volumes that servers boot from. */
  boots: ReadonlySet<string>;
  /** Addresses of IPBlocks: the block and the index. */
  addresses: ReadonlyMap<string, { block: string; index: number }>;
  /** Names of NICs by id. */
  nics: ReadonlyMap<string, string>;
  /** Whether an object exists for this id. */
  has(id: string): boolean;
}

/** `resources` get objects, `owned` ones have objects already. */
export function landscapeOf(
  resources: readonly Resource[],
  owned: readonly Resource[],
  has: (id: string) => boolean,
): LandscapeFacts {
  const addresses = new Map<string, { block: string; index: number }>();
  const boots = new Set<string>();
  const nics = new Map<string, string>();
  for (const { kind, raw } of resources)
    if (kind.kind === "Server") boots.add(String(asJson(asJson(raw.properties).bootVolume).id));
  for (const { kind, id, raw } of [...resources, ...owned]) {
    const properties = asJson(raw.properties);
    if (kind.kind === "Server") {
      for (const nic of nicsOf(raw)) nics.set(String(nic.id), String(asJson(nic.properties).name ?? ""));
    }
    if (kind.kind !== "IPBlock" || !Array.isArray(properties.ips)) continue;
    for (const [index, ip] of properties.ips.entries()) addresses.set(String(ip), { block: id, index });
  }
  return { boots, addresses, nics, has };
}

export const nicsOf = (raw: Json): Json[] => asList(asJson(asJson(raw.entities).nics).items);

/** A resource for the conversion: the platform's view of it and its parents. */
type Shape = Pick<Resource, "raw" | "parents">;

const withProperties = ({ raw, parents }: Shape, properties: Json): Shape => ({ raw: { ...raw, properties }, parents });

/** A volume has one source: its image, which may be a snapshot, or else an alias. */
function withSource({ image, imageAlias, ...volume }: Json, { has }: LandscapeFacts): Json {
  if (image == null) return { ...volume, imageAlias };
  return has(String(image)) ? { ...volume, snapshotId: image } : { ...volume, image };
}

/** Converts the platform's structure of a kind to the structure of spec, if they differ. */
const shapes: Readonly<Record<string, (shape: Shape, landscape: LandscapeFacts) => Shape>> = {
  Server(shape, landscape) {
    const { type, bootVolume, ...properties } = asJson(shape.raw.properties);
    const { cores: _, ram: __, cpuFamily: ___, availabilityZone: ____, ...sizeless } = properties;
    const own = type === "CUBE" ? sizeless : type === "VCPU" ? { ...properties, cpuFamily: undefined } : properties;
    const volumes = asList(asJson(asJson(shape.raw.entities).volumes).items);
    const boot = asJson(volumes.find(({ id }) => id === asJson(bootVolume).id)?.properties);
    // The direct-attached volume of a Cube belongs to the server; the template sets its size.
    const { size: _size, type: _type, ...das } = boot;
    const named =
      type === "CUBE" ? { bootVolume: withSource(das, landscape) } : { bootVolumeId: asJson(bootVolume).id };
    return withProperties(shape, { ...own, type, ...named });
  },
  Volume(shape, landscape) {
    const properties = withSource(asJson(shape.raw.properties), landscape);
    const { bootServer, type } = properties;
    // The server names its boot volume, so the volume needs no attachTo.
    const isBoot = landscape.boots.has(String(shape.raw.id)) && landscape.has(String(bootServer));
    const attachTo = bootServer != null && !isBoot ? { serverId: bootServer } : undefined;
    return withProperties(shape, { ...properties, type: type === "SSD" ? "SSD Premium" : type, attachTo });
  },
  Lan(shape) {
    const properties = asJson(shape.raw.properties);
    return withProperties(shape, { ...properties, ipv6: properties.ipv6CidrBlock });
  },
  FlowLog(shape, { nics, has }) {
    const { server = "", nic = "", ...around } = shape.parents;
    const name = nics.get(nic);
    // A target by id has no reference to its server.
    const byId = server === "" ? around : { ...around, serverId: server, nicId: nic };
    if (!has(server) || !name) return { raw: shape.raw, parents: byId };
    const { raw } = withProperties(shape, { ...asJson(shape.raw.properties), nic: name });
    return { raw, parents: { server } };
  },
  ScalingGroup(shape, landscape) {
    const properties = asJson(shape.raw.properties);
    const replica = asJson(properties.replicaConfiguration);
    const volumes = asList(replica.volumes).map((volume) => withSource(volume, landscape));
    const { raw } = withProperties(shape, { ...properties, replicaConfiguration: { ...replica, volumes } });
    return { raw, parents: { datacenter: String(asJson(properties.datacenter).id) } };
  },
  LogPipeline(shape) {
    const properties = asJson(shape.raw.properties);
    const logs = asList(properties.logs).map(({ destinations, retentionInDays, source, protocol, ...log }) => {
      const days = asList(destinations)[0]?.retentionInDays ?? retentionInDays;
      const isHttp = source === "generic" && protocol === "http";
      return { ...log, protocol, source: isHttp ? "http" : source, retentionInDays: days === 0 ? "unlimited" : days };
    });
    return withProperties(shape, { ...properties, logs });
  },
};

/** Parts of a resource that spec has no field for: their names on the platform, and the reason. */
const unsaid: Readonly<Record<string, (raw: Json) => [field: string, value: unknown, why: string][]>> = {
  Server({ properties, entities }) {
    const { bootCdrom, nicMultiQueue } = asJson(properties);
    const images = asList(asJson(asJson(entities).cdroms).items).map(({ id }) => id);
    const inDrive =
      "stays in its drive, where a replacement of the Server would have none: a Server boots from a Volume";
    return [
      ["bootCdrom", asJson(bootCdrom).id, inDrive],
      ["cdroms", images.filter((id) => id !== asJson(bootCdrom).id).join(", "), inDrive],
      ["nicMultiQueue", nicMultiQueue === true, "stays as it is: there is no such field"],
    ];
  },
  Lan({ properties }) {
    const { pcc, ipFailover } = asJson(properties);
    const stays = "stays as it is: there is no such field";
    return [
      ["pcc", pcc, stays],
      [
        "ipFailover",
        asList(ipFailover)
          .map(({ ip }) => ip)
          .join(", "),
        stays,
      ],
    ];
  },
};

/** The parts of a resource that its object cannot express. They stay on the platform. */
export const unsaidIn = ({ kind, raw }: Pick<Resource, "kind" | "raw">): { field: string; why: string }[] =>
  (unsaid[kind.kind]?.(raw) ?? []).flatMap(([field, value, why]) => (value ? { field, why: `${value} ${why}` } : []));

export const shaped = ({ kind, raw, parents }: Resource, landscape: LandscapeFacts): Shape =>
  shapes[kind.kind]?.({ raw, parents }, landscape) ?? { raw, parents };
