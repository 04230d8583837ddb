export type Json = Record<string, unknown>;

/** A manifest that is accepted as it stands; the tables patch its spec. */
export interface Base {
  kind: string;
  spec: Json;
}

export const account: Base = {
  kind: "Account",
  spec: { endpoints: { api: "https://api.example.com" }, credentialsSecretRef: { name: "platform-token" } },
};

export const datacenter: Base = { kind: "Datacenter", spec: { location: "de/txl" } };

const server = (spec: Json): Base => ({
  kind: "Server",
  spec: { datacenterRef: { name: "berlin" }, ...spec },
});

export const dedicated = server({
  cores: 4,
  ram: 8192,
  bootVolume: { size: 20, type: "SSD Premium", imageAlias: "ubuntu:latest" },
  nics: [{ name: "public", lan: 1 }],
});

export const vcpu = server({ type: "VCPU", cores: 2, ram: 4096 });

export const cube = server({
  type: "CUBE",
  templateUuid: "72e73b81-8551-4e74-b398-fc63b39994af",
  bootVolume: { imageAlias: "ubuntu:latest" },
});

const berlin = { datacenterRef: { name: "berlin" } };

export const lan: Base = { kind: "Lan", spec: berlin };

export const ipBlock: Base = { kind: "IPBlock", spec: { location: "de/txl", size: 1 } };

export const volume: Base = { kind: "Volume", spec: { ...berlin, size: 10, type: "HDD", licenceType: "OTHER" } };

export const snapshot: Base = { kind: "Snapshot", spec: { volumeRef: { name: "data" } } };

const capture = { action: "Any", direction: "Ingress", bucket: "flow-logs" };

export const flowLog: Base = { kind: "FlowLog", spec: { serverRef: { name: "web" }, nic: "public", ...capture } };

/** The flow log of a load balancer or NAT gateway. */
export const gatewayLog = (field: string, id: string): Base => ({
  kind: "FlowLog",
  spec: { ...berlin, [field]: id, ...capture },
});

export const scalingGroup: Base = {
  kind: "ScalingGroup",
  spec: {
    ...berlin,
    minReplicas: 1,
    maxReplicas: 3,
    policy: {
      metric: "INSTANCE_CPU_UTILIZATION_AVERAGE",
      unit: "PERCENTAGE",
      scaleInThreshold: 20,
      scaleOutThreshold: 80,
      scaleInAction: { amount: 1, deleteVolumes: true },
      scaleOutAction: { amount: 1 },
    },
    replica: { cores: 1, ram: 1024 },
  },
};

export const metricPipeline: Base = { kind: "MetricPipeline", spec: {} };

export const logPipeline: Base = {
  kind: "LogPipeline",
  spec: { logs: [{ source: "generic", tag: "app", protocol: "tcp" }] },
};

export const centralLogging: Base = { kind: "CentralLogging", spec: { enabled: true } };

/** A Kafka cluster that is reached in this way. */
export const kafkaAt = (connection: object): Base => ({
  kind: "KafkaCluster",
  spec: {
    size: "S",
    connection: {
      ...berlin,
      lanRef: { name: "brokers" },
      brokerAddresses: ["192.168.1.101/24", "192.168.1.102/24", "192.168.1.103/24"],
      ...connection,
    },
  },
});

export const kafkaCluster = kafkaAt({});

const inStream = { clusterRef: { name: "stream" } };

export const kafkaTopic: Base = { kind: "KafkaTopic", spec: { ...inStream, replicationFactor: 3 } };

export const kafkaUser: Base = { kind: "KafkaUser", spec: inStream };

/** The base as an object, its spec changed by a JSON merge patch: null removes a field. */
export function manifest(base: Base, namespace: string, name: string, patch: unknown = {}) {
  return {
    apiVersion: "mooring.dev/v1alpha1",
    kind: base.kind,
    metadata: { namespace, name },
    spec: merge(base.spec, patch),
  };
}

function merge(target: unknown, patch: unknown): unknown {
  if (!isJson(patch)) return patch;
  const merged: Json = isJson(target) ? { ...target } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field];
    else merged[field] = merge(merged[field], value);
  }
  return merged;
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
