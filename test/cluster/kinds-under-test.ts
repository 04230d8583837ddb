import { kinds } from "../../src/kinds/index.ts";
import type { Kind, ResourceMapping } from "../../src/kinds/kind.ts";
import {
  brokers,
  datacenter,
  flowLog,
  ipBlock,
  kafkaCluster,
  kafkaTopic,
  lan,
  logPipeline,
  metricPipeline,
  scalingGroup,
  server,
  snapshot,
  volume,
} from "./objects.ts";

/** What exists on the platform before any kind is held to its promises, by its ids. */
export interface Ground {
  datacenter: string;
  /** The volume `source`. */
  volume: string;
  /** The server `host`, and its NICs by name. */
  server: string;
  nics: Record<string, string>;
  /** The LAN `brokers`, and the Kafka cluster `stream` in it. */
  lan: string;
  cluster: string;
}

/** Another value in spec, and what the platform shows once it is true there. */
export interface Difference {
  spec: object;
  shows: object;
}

/** What the contract of policies needs to know of a kind to hold it to its promises. */
export interface Subject {
  kind: Kind & { resource: ResourceMapping };
  /** Begins the names of its objects, where the platform takes short ones only. */
  prefix?: string;
  /** A manifest of the kind; `spec` is merged into a valid one. */
  manifest(name: string, spec?: object): object;
  /** Its collection in the simulator's state. */
  collection: string;
  /** Where the platform has it. */
  path(ground: Ground, name: string): string;
  /** Where the platform takes its creation, when that is somewhere else. */
  creation?(ground: Ground): string;
  /** A body that creates what the manifest describes behind Mooring's back. */
  body(name: string, ground: Ground): object;
  /** The parts of spec that name its place and nothing else. */
  place(name: string): object;
  /** An id that nothing has. */
  nobody: string;
  /** A change that the platform can make, and one that it cannot; absent where there is none. */
  change?(name: string): Difference;
  fixedChange?: Difference;
}

const core = "/cloudapi/v6";
const inDatacenter = (collection: string) => (ground: Ground) =>
  `${core}/datacenters/${ground.datacenter}/${collection}`;
const atHome = () => ({ datacenterRef: { name: "dc" } });
/** Where nothing else can change, the place can. */
const moved: Difference = { spec: { datacenterRef: { name: "other" } }, shows: {} };
const kafka = "/streaming/de-txl/clusters";
const nobody = "00000000-0000-4000-8000-000000000000";

const rows: Record<string, Omit<Subject, "kind">> = {
  Datacenter: {
    manifest: datacenter,
    collection: "datacenters",
    path: () => `${core}/datacenters`,
    body: (name) => ({ properties: { name, location: "de/txl" } }),
    place: () => ({}),
    nobody,
    change: () => ({ spec: { description: "changed" }, shows: { description: "changed" } }),
    fixedChange: { spec: { location: "de/fra" }, shows: { location: "de/fra" } },
  },
  Server: {
    manifest: server,
    collection: "servers",
    path: inDatacenter("servers"),
    body: (name) => ({
      properties: { name, cores: 2, ram: 2048 },
      entities: {
        volumes: {
          items: [{ properties: { name: "os", size: 10, type: "SSD Standard", imageAlias: "ubuntu:latest" } }],
        },
        nics: { items: [{ properties: { name: "public", lan: 1, dhcp: true, firewallActive: false } }] },
      },
    }),
    place: atHome,
    nobody,
    change: () => ({ spec: { cores: 4 }, shows: { cores: 4 } }),
    fixedChange: { spec: { availabilityZone: "ZONE_1" }, shows: { availabilityZone: "ZONE_1" } },
  },
  Lan: {
    manifest: lan,
    collection: "lans",
    path: inDatacenter("lans"),
    body: (name) => ({ properties: { name, public: false } }),
    place: atHome,
    nobody: "4711",
    change: () => ({ spec: { public: true }, shows: { public: true } }),
    fixedChange: moved,
  },
  IPBlock: {
    manifest: ipBlock,
    collection: "ipblocks",
    path: () => `${core}/ipblocks`,
    body: (name) => ({ properties: { name, location: "de/txl", size: 1 } }),
    place: () => ({}),
    nobody,
    change: (name) => ({ spec: { name: `${name}-again` }, shows: { name: `${name}-again` } }),
    fixedChange: { spec: { size: 2 }, shows: { size: 2 } },
  },
  Volume: {
    manifest: volume,
    collection: "volumes",
    path: inDatacenter("volumes"),
    body: (name) => ({ properties: { name, size: 10, type: "HDD", licenceType: "OTHER" } }),
    place: atHome,
    nobody,
    change: () => ({ spec: { size: 20 }, shows: { size: 20 } }),
    fixedChange: { spec: { type: "SSD Standard" }, shows: { type: "SSD Standard" } },
  },
  Snapshot: {
    manifest: snapshot,
    collection: "snapshots",
    path: () => `${core}/snapshots`,
    creation: (ground) => `${inDatacenter("volumes")(ground)}/${ground.volume}/create-snapshot`,
    body: (name) => ({ properties: { name } }),
    place: () => ({}),
    nobody,
    change: () => ({ spec: { description: "changed" }, shows: { description: "changed" } }),
    fixedChange: { spec: { volumeRef: { name: "other-source" } }, shows: {} },
  },
  FlowLog: {
    // There can be one per NIC: each has a NIC of its own, which is called like it.
    manifest: (name, spec) => flowLog(name, { nic: name, ...spec }),
    collection: "flowlogs",
    path: (ground, name) => `${inDatacenter("servers")(ground)}/${ground.server}/nics/${ground.nics[name]}/flowlogs`,
    body: (name) => ({ properties: { name, action: "REJECTED", direction: "INGRESS", bucket: "flow-logs" } }),
    place: (name) => ({ serverRef: { name: "host" }, nic: name }),
    nobody,
    fixedChange: { spec: { action: "Any" }, shows: { action: "ALL" } },
  },
  ScalingGroup: {
    manifest: scalingGroup,
    collection: "groups",
    path: () => "/autoscaling/v1.ea/groups",
    body: (name, ground) => ({
      properties: {
        name,
        datacenter: { id: ground.datacenter },
        minReplicaCount: 1,
        maxReplicaCount: 2,
        policy: {
          metric: "INSTANCE_CPU_UTILIZATION_AVERAGE",
          unit: "PERCENTAGE",
          scaleInThreshold: 30,
          scaleOutThreshold: 75,
          scaleInAction: { amount: 1, amountType: "ABSOLUTE", deleteVolumes: true },
          scaleOutAction: { amount: 1, amountType: "ABSOLUTE" },
        },
        replicaConfiguration: {
          cores: 1,
          ram: 1024,
          nics: [{ name: "public", lan: 1 }],
          volumes: [{ name: "root", size: 10, type: "SSD_STANDARD", imageAlias: "ubuntu:latest" }],
        },
      },
    }),
    place: atHome,
    nobody,
    change: () => ({ spec: { maxReplicas: 3 }, shows: { maxReplicaCount: 3 } }),
    fixedChange: moved,
  },
  MetricPipeline: {
    prefix: "mp",
    manifest: metricPipeline,
    collection: "metricPipelines",
    path: () => "/monitoring/de-txl/pipelines",
    body: (name) => ({ properties: { name } }),
    place: () => ({}),
    nobody,
    change: (name) => ({ spec: { name: `${name}-again` }, shows: { name: `${name}-again` } }),
  },
  LogPipeline: {
    prefix: "lp",
    manifest: logPipeline,
    collection: "logPipelines",
    path: () => "/logging/de-txl/pipelines",
    body: (name) => ({ properties: { name, logs: [{ source: "generic", tag: "app", protocol: "http" }] } }),
    place: () => ({}),
    nobody,
    change: (name) => ({ spec: { name: `${name}-again` }, shows: { name: `${name}-again` } }),
  },
  KafkaCluster: {
    manifest: kafkaCluster,
    collection: "streamingClusters",
    path: () => kafka,
    body: (name, { datacenter: datacenterId, lan: lanId }) => ({
      properties: {
        name,
        version: "4.0.0",
        size: "S",
        connections: [{ datacenterId, lanId, brokerAddresses: brokers }],
      },
    }),
    place: () => ({}),
    nobody,
    fixedChange: { spec: { size: "M" }, shows: { size: "M" } },
  },
  KafkaTopic: {
    manifest: kafkaTopic,
    collection: "streamingTopics",
    path: (ground) => `${kafka}/${ground.cluster}/topics`,
    body: (name) => ({ properties: { name, replicationFactor: 3, numberOfPartitions: 3 } }),
    place: () => ({ clusterRef: { name: "stream" } }),
    nobody,
    fixedChange: { spec: { numberOfPartitions: 6 }, shows: { numberOfPartitions: 6 } },
  },
};

/** Every kind that has a row here. */
export const subjects: Subject[] = kinds.flatMap((kind) => {
  const { resource } = kind;
  const row = rows[kind.kind];
  return resource && row ? [{ ...row, kind: { ...kind, resource } }] : [];
});
