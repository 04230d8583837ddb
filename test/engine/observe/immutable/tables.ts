import { otherId, someId } from "../../../subjects/manifests.ts";

/** Spec that leaves the field out, and gets it as it is on the platform or with another value. */
export interface Row {
  field: string;
  /** Default: the field with the value. */
  spec?: (value: unknown) => object;
  there: unknown;
  other?: unknown;
  base?: object;
  item?: object;
  /** Where it is the number or the id of something that spec names. */
  found?: string;
}

export interface Table {
  base?: object;
  item: object;
  rows: Row[];
  /** Immutable fields that the platform does not show: the place of a resource, and what is used at its creation only. */
  hidden?: string[];
}

const place = ["datacenterRef", "datacenterId"];
const firstBoot = ["sshKeys", "sshKeysFrom", "userData", "userDataSecretRef", "imagePasswordSecretRef"];
const images = ["image", "imageAlias", "snapshotRef", "imageLookup"];
const home = { datacenterId: someId };
const cube = { type: "CUBE", templateUuid: someId };
const brokers = ["10.0.0.1/24", "10.0.0.2/24", "10.0.0.3/24"];
const others = ["10.0.0.4/24", "10.0.0.5/24", "10.0.0.6/24"];
const near = { datacenterId: someId, lanId: "1", brokerAddresses: brokers };
/** A connection with one other field. */
const connection = (field: string, by = field) => ({
  field: `connection.${by}`,
  spec: (value: unknown) => ({
    connection: { ...near, ...(by.endsWith("Ref") && { [field]: undefined }), [by]: value },
  }),
});
const token: Table = {
  item: {
    id: someId,
    metadata: { createdDate: "2026-01-01T00:00:00Z" },
    properties: { expirationDate: "2026-01-08T00:00:00Z" },
  },
  rows: [{ field: "lifetime", there: "7d", other: "30d" }],
};

/** By the names of their kinds. */
export const tables: Record<string, Table> = {
  Datacenter: {
    item: { id: someId, properties: { name: "web", location: "de/txl" } },
    rows: [{ field: "location", there: "de/txl", other: "de/fra" }],
  },
  IPBlock: {
    item: { id: someId, properties: { name: "web", location: "de/txl", size: 4 } },
    rows: [
      { field: "location", there: "de/txl", other: "de/fra" },
      { field: "size", there: 4, other: 2 },
    ],
  },
  Lan: { item: {}, rows: [], hidden: place },
  ScalingGroup: { item: {}, rows: [], hidden: place },
  Snapshot: { item: {}, rows: [], hidden: ["volumeRef", "serverRef", "volumeId", ...place] },
  Server: {
    base: home,
    item: {
      id: someId,
      properties: { name: "web", type: "VCPU", availabilityZone: "ZONE_2", bootVolume: { id: otherId } },
      entities: { volumes: { items: [{ id: otherId, properties: { type: "HDD" } }] } },
    },
    rows: [
      { field: "type", there: "VCPU", other: "CUBE" },
      { field: "availabilityZone", there: "ZONE_2", other: "ZONE_1" },
      {
        field: "templateUuid",
        base: { ...home, type: "CUBE" },
        item: { properties: cube },
        there: someId,
        other: otherId,
      },
      {
        field: "bootVolume.type",
        base: { ...home, bootVolume: { licenceType: "LINUX" } },
        spec: (type) => ({ bootVolume: { licenceType: "LINUX", type } }),
        there: "HDD",
        other: "SSD Premium",
      },
    ],
    hidden: [
      ...place,
      "templateName",
      ...[...images, ...firstBoot, "licenceType"].map((field) => `bootVolume.${field}`),
    ],
  },
  Volume: {
    base: home,
    item: {
      id: someId,
      properties: { name: "web", size: 10, type: "SSD", availabilityZone: "ZONE_2", licenceType: "LINUX" },
    },
    rows: [
      { field: "type", there: "SSD Premium", other: "HDD" },
      { field: "availabilityZone", there: "ZONE_2", other: "ZONE_3" },
      { field: "licenceType", there: "LINUX", other: "OTHER" },
    ],
    hidden: [...place, ...images, ...firstBoot],
  },
  KafkaTopic: {
    base: { clusterId: someId },
    item: { id: someId, properties: { name: "web", replicationFactor: 3, numberOfPartitions: 6 } },
    rows: [
      { field: "name", there: "web", other: "orders" },
      { field: "replicationFactor", there: 3, other: 2 },
      { field: "numberOfPartitions", there: 6, other: 3 },
      {
        field: "logRetention",
        there: { segmentBytes: 1_073_741_824 },
        other: { segmentBytes: 14 },
        found: "1073741824",
      },
    ],
    hidden: ["clusterRef", "clusterId"],
  },
  KafkaCluster: {
    item: {
      id: someId,
      properties: {
        name: "web",
        version: "4.0.0",
        size: "S",
        connections: [{ datacenterId: someId, lanId: "1", brokerAddresses: brokers }],
      },
    },
    rows: [
      { field: "name", there: "web", other: "orders" },
      { field: "size", there: "S", other: "M" },
      { ...connection("datacenterId"), there: someId, other: otherId, found: someId },
      { ...connection("lanId"), there: "1", other: "2" },
      {
        ...connection("datacenterId", "datacenterRef"),
        there: { name: "near" },
        other: { name: "far" },
        found: someId,
      },
      { ...connection("lanId", "lanRef"), there: { name: "near" }, other: { name: "far" }, found: "1" },
      { ...connection("brokerAddresses"), there: brokers, other: others, found: JSON.stringify(brokers) },
      // There is only one.
      { field: "version", there: "4.0.0" },
    ],
  },
  KafkaUser: {
    base: { clusterId: someId },
    item: { id: someId, properties: { name: "admin" } },
    rows: [
      { field: "user", there: "admin", other: "bob" },
      { field: "userId", there: someId, other: otherId },
    ],
    hidden: ["clusterRef", "clusterId"],
  },
  FlowLog: {
    base: { serverRef: { name: "web" }, nic: "public" },
    item: { id: someId, properties: { name: "web", action: "REJECTED", direction: "INGRESS", bucket: "logs" } },
    rows: [
      { field: "name", there: "web", other: "other" },
      { field: "action", there: "Rejected", other: "Any" },
      { field: "direction", there: "Ingress", other: "Egress" },
      { field: "bucket", there: "logs", other: "others" },
    ],
    hidden: [
      ...[
        "serverRef",
        "serverId",
        "networkLoadBalancerId",
        "applicationLoadBalancerId",
        "natGatewayId",
        "nic",
        "nicId",
      ],
      ...place,
    ],
  },
  AccessToken: token,
  InferenceAccess: { ...token, base: { secretName: "token", models: ["openai/gpt-oss-120b"] } },
  MetricPipeline: { item: {}, rows: [] },
  LogPipeline: { item: {}, rows: [] },
  CentralLogging: { item: {}, rows: [] },
};
