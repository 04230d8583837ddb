import { z } from "zod";
import { kinds } from "../../src/kinds/index.ts";
import type { Kind, ResourceMapping } from "../../src/kinds/kind.ts";
import { type Ground, given, type HandsFor, named, switched } from "./hands.ts";
import {
  brokers,
  centralLogging,
  datacenter,
  flowLog,
  ipBlock,
  kafkaCluster,
  kafkaTopic,
  kafkaUser,
  lan,
  logPipeline,
  metricPipeline,
  scalingGroup,
  server,
  snapshot,
  volume,
} from "./objects.ts";
import type { Found, Steering } from "./steering.ts";

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
  hands: HandsFor;
  /** What the platform shows of the manifest. */
  shows(name: string): object;
  /** Spec that differs from what is there; empty where nothing can. */
  unlike: object;
  /** The parts of spec that name its place and nothing else. */
  place(name: string): object;
  /** An id that nothing has. */
  nobody: string;
  /** A change that the platform can make, and one that it cannot; absent where there is none. */
  change?(name: string): Difference;
  fixedChange?: Difference;
  /** Another place, where nothing but the place is fixed. */
  move?: Difference;
  /** The lists in spec that can be emptied, by the name of the field. */
  lists?: Record<string, EmptiedList>;
}

export interface EmptiedList {
  spec: object;
  /** Spec that says nothing about the list, and so leaves it alone; absent where the field has a default. */
  silent?: object;
  /** What the platform has of it. */
  members(found: Found, platform: Steering): Promise<unknown[]>;
}

const core = "/cloudapi/v6";
const inDatacenter = (collection: string) => (ground: Ground) =>
  `${core}/datacenters/${ground.datacenter}/${collection}`;
const atHome = () => ({ datacenterRef: { name: "dc" } });
const moved: Difference = { spec: { datacenterRef: { name: "other" } }, shows: {} };
const inStream = () => ({ clusterRef: { name: "stream" } });
const kafka = "/streaming/de-txl/clusters";
const renamed = (name: string): Difference => ({ spec: { name: `${name}-again` }, shows: { name: `${name}-again` } });

const rootVolumes = [{ name: "root", size: 10, type: "SSD Standard", imageAlias: "ubuntu:latest" }];
const replicas = z.looseObject({
  replicaConfiguration: z.looseObject({ nics: z.array(z.unknown()), volumes: z.array(z.unknown()) }),
});

/** What holds for a kind whose row says nothing else. */
const usual = {
  shows: (name: string): object => ({ name }),
  unlike: { name: "another-name" },
  place: (): object => ({}),
  nobody: "00000000-0000-4000-8000-000000000000",
};

type Usual = Pick<Subject, keyof typeof usual>;

const rows: Record<string, Omit<Subject, "kind" | keyof Usual> & Partial<Usual>> = {
  Datacenter: {
    manifest: datacenter,
    hands: named({
      collection: "datacenters",
      path: () => `${core}/datacenters`,
      body: (name) => ({ properties: { name, location: "de/txl" } }),
    }),
    change: () => ({ spec: { description: "changed" }, shows: { description: "changed" } }),
    fixedChange: { spec: { location: "de/fra" }, shows: { location: "de/fra" } },
  },
  Server: {
    manifest: server,
    hands: named({
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
    }),
    place: atHome,
    change: () => ({ spec: { cores: 4 }, shows: { cores: 4 } }),
    fixedChange: { spec: { availabilityZone: "ZONE_1" }, shows: { availabilityZone: "ZONE_1" } },
    lists: {
      nics: {
        spec: { nics: [] },
        silent: { nics: undefined },
        members: async ({ id }, platform) =>
          (await platform.resources("nics")).filter(({ serverId }) => serverId === id),
      },
    },
  },
  Lan: {
    manifest: lan,
    hands: named({
      collection: "lans",
      path: inDatacenter("lans"),
      body: (name) => ({ properties: { name, public: false } }),
    }),
    place: atHome,
    nobody: "4711",
    change: () => ({ spec: { public: true }, shows: { public: true } }),
    move: moved,
  },
  IPBlock: {
    manifest: ipBlock,
    hands: named({
      collection: "ipblocks",
      path: () => `${core}/ipblocks`,
      body: (name) => ({ properties: { name, location: "de/txl", size: 1 } }),
    }),
    change: renamed,
    fixedChange: { spec: { size: 2 }, shows: { size: 2 } },
  },
  Volume: {
    manifest: volume,
    hands: named({
      collection: "volumes",
      path: inDatacenter("volumes"),
      body: (name) => ({ properties: { name, size: 10, type: "HDD", licenceType: "OTHER" } }),
    }),
    place: atHome,
    change: () => ({ spec: { size: 20 }, shows: { size: 20 } }),
    fixedChange: { spec: { type: "SSD Standard" }, shows: { type: "SSD Standard" } },
  },
  Snapshot: {
    manifest: snapshot,
    hands: named({
      collection: "snapshots",
      path: () => `${core}/snapshots`,
      creation: (ground) => `${inDatacenter("volumes")(ground)}/${ground.volume}/create-snapshot`,
      body: (name) => ({ properties: { name } }),
    }),
    change: () => ({ spec: { description: "changed" }, shows: { description: "changed" } }),
    fixedChange: { spec: { volumeRef: { name: "other-source" } }, shows: {} },
  },
  FlowLog: {
    // There can be one per NIC: each has a NIC of its own, which is called like it.
    manifest: (name, spec) => flowLog(name, { nic: name, ...spec }),
    hands: named({
      collection: "flowlogs",
      path: (ground, name) => `${inDatacenter("servers")(ground)}/${ground.server}/nics/${ground.nics[name]}/flowlogs`,
      body: (name) => ({ properties: { name, action: "REJECTED", direction: "INGRESS", bucket: "flow-logs" } }),
    }),
    place: (name) => ({ serverRef: { name: "host" }, nic: name }),
    fixedChange: { spec: { action: "Any" }, shows: { action: "ALL" } },
  },
  ScalingGroup: {
    manifest: scalingGroup,
    hands: named({
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
    }),
    place: atHome,
    change: () => ({ spec: { maxReplicas: 3 }, shows: { maxReplicaCount: 3 } }),
    move: moved,
    lists: {
      "replica.nics": {
        spec: { replica: { cores: 1, ram: 1024, nics: [], volumes: rootVolumes } },
        members: async ({ properties }) => replicas.parse(properties).replicaConfiguration.nics,
      },
      "replica.volumes": {
        spec: { replica: { cores: 1, ram: 1024, nics: [], volumes: [] } },
        members: async ({ properties }) => replicas.parse(properties).replicaConfiguration.volumes,
      },
    },
  },
  MetricPipeline: {
    prefix: "mp",
    manifest: metricPipeline,
    hands: named({
      collection: "metricPipelines",
      path: () => "/monitoring/de-txl/pipelines",
      body: (name) => ({ properties: { name } }),
    }),
    change: renamed,
  },
  LogPipeline: {
    prefix: "lp",
    manifest: logPipeline,
    hands: named({
      collection: "logPipelines",
      path: () => "/logging/de-txl/pipelines",
      body: (name) => ({ properties: { name, logs: [{ source: "generic", tag: "app", protocol: "http" }] } }),
    }),
    change: renamed,
  },
  CentralLogging: {
    // There is one per region: each has a region of its own, by the Account that is called like it.
    manifest: (name, spec) => centralLogging(name, { accountRef: { name }, ...spec }),
    hands: switched((ground, name) => `/logging/${ground.regions[name]}/central`),
    shows: () => ({ enabled: true }),
    unlike: { enabled: true },
    place: (name) => ({ accountRef: { name } }),
    change: () => ({ spec: { enabled: true }, shows: { enabled: true } }),
  },
  KafkaCluster: {
    manifest: kafkaCluster,
    hands: named({
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
    }),
    fixedChange: { spec: { size: "M" }, shows: { size: "M" } },
  },
  KafkaTopic: {
    manifest: kafkaTopic,
    hands: named({
      collection: "streamingTopics",
      path: (ground) => `${kafka}/${ground.cluster}/topics`,
      body: (name) => ({ properties: { name, replicationFactor: 3, numberOfPartitions: 3 } }),
    }),
    place: inStream,
    fixedChange: { spec: { numberOfPartitions: 6 }, shows: { numberOfPartitions: 6 } },
  },
  KafkaUser: {
    manifest: kafkaUser,
    hands: given("kafkauser", (ground) => `${kafka}/${ground.cluster}/users`),
    shows: () => ({ name: "admin" }),
    unlike: {},
    place: inStream,
    move: { spec: { clusterRef: { name: "other-stream" } }, shows: {} },
  },
};

/** Every kind that has a row here. */
export const subjects: Subject[] = kinds.flatMap((kind) => {
  const { resource } = kind;
  const row = rows[kind.kind];
  return resource && row ? [{ ...usual, ...row, kind: { ...kind, resource } }] : [];
});
