import { kinds } from "../../../src/kinds/index.ts";
import { subjects } from "../../subjects/index.ts";

export type Json = Record<string, unknown>;

/** A manifest that is accepted as it stands; the tables patch its spec. */
export interface Base {
  kind: string;
  spec: Json;
}

const of = (kind: string, change: object = {}): Base => ({
  kind,
  spec: { ...subjects.find((subject) => subject.kind === kind)?.spec, ...change },
});

export const account: Base = {
  kind: "Account",
  spec: { endpoints: { api: "https://api.example.com" }, credentialsSecretRef: { name: "platform-token" } },
};

export const clusterAccount = of("ClusterAccount");
export const grant = of("Grant");
export const inferenceAccess = of("InferenceAccess");
export const activityLogExport = of("ActivityLogExport");
export const datacenter = of("Datacenter");
export const dedicated = of("Server");
export const lan = of("Lan");
export const ipBlock = of("IPBlock");
export const volume = of("Volume");
export const snapshot = of("Snapshot");
export const flowLog = of("FlowLog");
export const scalingGroup = of("ScalingGroup");
export const metricPipeline = of("MetricPipeline");
export const logPipeline = of("LogPipeline");
export const centralLogging = of("CentralLogging");
export const kafkaCluster = of("KafkaCluster");
export const kafkaTopic = of("KafkaTopic");
export const kafkaUser = of("KafkaUser");
export const accessToken = of("AccessToken");

const bare = { bootVolume: undefined, nics: undefined };
export const vcpu = of("Server", { ...bare, type: "VCPU" });
export const cube = of("Server", {
  ...bare,
  cores: undefined,
  ram: undefined,
  type: "CUBE",
  templateUuid: "72e73b81-8551-4e74-b398-fc63b39994af",
  bootVolume: { imageAlias: "ubuntu:latest" },
});

/** The flow log of a load balancer or NAT gateway. */
export const gatewayLog = (field: string, id: string): Base =>
  of("FlowLog", { serverRef: undefined, nic: undefined, ...lan.spec, [field]: id });

/** A Kafka cluster that is reached in this way. */
export const kafkaAt = (connection: object): Base =>
  of("KafkaCluster", { connection: { ...asJson(kafkaCluster.spec.connection), ...connection } });

/** The base as an object, its spec changed by a JSON merge patch: null removes a field. */
export function manifest(base: Base, namespace: string, name: string, patch: unknown = {}) {
  const isNamespaced = kinds.find(({ kind }) => kind === base.kind)?.scope !== "Cluster";
  return {
    apiVersion: "mooring.dev/v1alpha1",
    kind: base.kind,
    metadata: { ...(isNamespaced && { namespace }), name },
    spec: merge(base.spec, patch),
  };
}

const asJson = (value: unknown): Json => (isJson(value) ? value : {});

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
