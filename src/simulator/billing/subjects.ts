import type { Zone } from "../records/dns.ts";
import type { Own, Row } from "../records/life.ts";
import type { Pipeline } from "../records/pipelines.ts";
import type { Cluster } from "../records/streaming.ts";
import { numberIn, type Resource, textIn, textsIn } from "../store/resource.ts";
import type { Resources } from "../store/resources.ts";
import { meterNamed } from "./meters.ts";

/** Something that costs money, with its current amount of each meter. */
export interface Subject {
  id: string;
  name: string;
  createdAt: number;
  serverId: string | null;
  /** null: it is in no datacenter. */
  datacenter: { id: string; name: string; location: string } | null;
  region: string;
  ips: readonly string[];
  /** Meter and amount. */
  lines: readonly (readonly [string, number])[];
}

const gigabytes = (megabytes: number | undefined) => (megabytes ?? 0) / 1024;

/** The meter of a volume, by type; SSD Premium by default. The volume of a Cube has none: the Cube includes it. */
const disks: Readonly<Record<string, string>> = { HDD: "S01000", "SSD Standard": "S02000", DAS: "" };
const diskLine = (type: string | undefined, size: number | undefined) =>
  [disks[type ?? ""] ?? "S03000", size ?? 0] as const;

function coreLine(type: string | undefined, family: string | undefined, cores: number | undefined) {
  if (type === "VCPU") return ["C03000", cores ?? 0] as const;
  return [family?.startsWith("AMD") ? "C01000" : "C02000", cores ?? 0] as const;
}

/** By the type of the resource; other types are free. */
const lines: Readonly<Record<string, (resource: Resource, resources: Resources) => Subject["lines"]>> = {
  server({ properties }, resources) {
    if (properties.type === "CUBE") {
      const template = resources.get(`templates/${textIn(properties, "templateUuid")}`);
      return [[meterNamed(textIn(template?.properties ?? {}, "name") ?? "") ?? "CU1100", 1]];
    }
    const cores = numberIn(properties, "cores");
    return [
      coreLine(textIn(properties, "type"), textIn(properties, "cpuFamily"), cores),
      ["R01000", gigabytes(numberIn(properties, "ram"))],
    ];
  },
  volume: ({ properties }) => [diskLine(textIn(properties, "type"), numberIn(properties, "size"))],
  snapshot: ({ properties }) => [["SN1000", numberIn(properties, "size") ?? 0]],
  ipblock: ({ properties }) => [["IP1000", textsIn(properties, "ips").length]],
  natgateway: () => [["NG1000", 1]],
  networkloadbalancer: () => [["LB1000", 1]],
  applicationloadbalancer: () => [["LB2000", 1]],
  node({ parent }, resources) {
    const { properties = {} } = resources.get(parent) ?? {};
    const cores = numberIn(properties, "coresCount");
    return [
      coreLine(textIn(properties, "serverType"), textIn(properties, "cpuFamily"), cores),
      ["R01000", gigabytes(numberIn(properties, "ramSize"))],
      diskLine(textIn(properties, "storageType"), numberIn(properties, "storageSize")),
    ];
  },
  nic({ key, properties }, resources) {
    const lan = resources.get(`${key.split("/", 2).join("/")}/lans/${numberIn(properties, "lan")}`);
    return lan?.properties.public === true
      ? [
          ["TI1000", 1],
          ["TO1000", 1],
        ]
      : [];
  },
};

export function resourceSubject(resource: Resource, resources: Resources): Subject | undefined {
  const billed = lines[resource.type]?.(resource, resources).filter(([meter, amount]) => meter !== "" && amount > 0);
  if (billed === undefined || billed.length === 0) return undefined;
  const { key, id, parent, properties, createdAt } = resource;
  const pool = resource.type === "node" ? resources.get(parent)?.properties : undefined;
  const datacenterId = textIn(pool ?? {}, "datacenterId") ?? /^datacenters\/([^/]+)/.exec(key)?.[1];
  const found = datacenterId === undefined ? undefined : resources.get(`datacenters/${datacenterId}`);
  const location = textIn(found?.properties ?? properties, "location") ?? "";
  return {
    id,
    name: textIn(properties, "name") ?? id,
    createdAt,
    serverId: /\/servers\/([^/]+)\//.exec(key)?.[1] ?? null,
    datacenter: found === undefined ? null : { id: found.id, name: textIn(found.properties, "name") ?? "", location },
    region: location,
    ips: resource.type === "nic" ? textsIn(properties, "ips") : [],
    lines: billed,
  };
}

const elsewhere = { serverId: null, datacenter: null, ips: [] };

export const pipelineSubject = ({ id, name, region, product, createdAt }: Pipeline): Subject => ({
  ...elsewhere,
  id,
  name,
  region,
  createdAt,
  lines: [[product === "logs" ? "LO1000" : "MO1000", 1]],
});

export const clusterSubject = ({ id, region, createdAt, properties: { name, size } }: Cluster): Subject => ({
  ...elsewhere,
  id,
  name,
  region,
  createdAt,
  lines: [[meterNamed(`Event streaming cluster, ${size}`) ?? "KA2000", 1]],
});

export const zoneSubject = ({ id, createdAt, own }: Row<Own<Zone>>): Subject => ({
  ...elsewhere,
  id,
  name: own.zoneName,
  region: "",
  createdAt,
  lines: [["DN1000", 1]],
});
