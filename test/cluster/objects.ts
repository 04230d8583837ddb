import { api } from "./landscape.ts";

/** A manifest of a kind; `spec` is merged into one that is valid by itself, in the datacenter `dc` where it needs one. */
const of =
  (kind: string, valid: object) =>
  (name: string, spec: object = {}) => ({ apiVersion: api, kind, metadata: { name }, spec: { ...valid, ...spec } });

const inDatacenter = { datacenterRef: { name: "dc" } };
const image = { imageAlias: "ubuntu:latest" };

export const datacenter = of("Datacenter", { location: "de/txl" });

export const server = of("Server", {
  ...inDatacenter,
  cores: 2,
  ram: 2048,
  bootVolume: { size: 10, type: "SSD Standard", ...image },
  nics: [{ name: "public", lan: 1 }],
});

export const lan = of("Lan", inDatacenter);

export const ipBlock = of("IPBlock", { location: "de/txl", size: 1 });

export const volume = of("Volume", { ...inDatacenter, size: 10, type: "HDD", licenceType: "OTHER" });

export const snapshot = of("Snapshot", { volumeRef: { name: "source" } });

export const flowLog = of("FlowLog", {
  serverRef: { name: "host" },
  nic: "public",
  action: "Rejected",
  direction: "Ingress",
  bucket: "flow-logs",
});

export const brokers = ["192.168.1.101/24", "192.168.1.102/24", "192.168.1.103/24"];

/** In the LAN `brokers`. */
export const kafkaCluster = of("KafkaCluster", {
  size: "S",
  connection: { ...inDatacenter, lanRef: { name: "brokers" }, brokerAddresses: brokers },
});

export const kafkaTopic = of("KafkaTopic", {
  clusterRef: { name: "stream" },
  replicationFactor: 3,
  numberOfPartitions: 3,
});

export const kafkaUser = of("KafkaUser", { clusterRef: { name: "stream" } });

export const metricPipeline = of("MetricPipeline", {});

export const logPipeline = of("LogPipeline", { logs: [{ source: "generic", tag: "app", protocol: "http" }] });

export const centralLogging = of("CentralLogging", { enabled: true });

export const scalingGroup = of("ScalingGroup", {
  ...inDatacenter,
  minReplicas: 1,
  maxReplicas: 2,
  policy: {
    metric: "INSTANCE_CPU_UTILIZATION_AVERAGE",
    unit: "PERCENTAGE",
    range: "2m",
    scaleInThreshold: 30,
    scaleOutThreshold: 75,
    scaleInAction: { amount: 1, cooldownPeriod: "5m", deleteVolumes: true },
    scaleOutAction: { amount: 1, cooldownPeriod: "5m" },
  },
  replica: {
    cores: 1,
    ram: 1024,
    nics: [{ name: "public", lan: 1 }],
    volumes: [{ name: "root", size: 10, type: "SSD Standard", ...image }],
  },
});
