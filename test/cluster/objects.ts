import { subjects } from "../subjects/index.ts";
import { manifest } from "../subjects/surroundings.ts";

/** A manifest of a kind; `spec` is merged into a valid one. */
export const objectOf = (kind: string) => {
  const valid = subjects.find((subject) => subject.kind === kind)?.spec;
  if (!valid) throw new Error(`there is no ${kind} in test/subjects`);
  return (name: string, spec: object = {}) => manifest(kind, name, { ...valid, ...spec });
};

export const datacenter = objectOf("Datacenter");
export const server = objectOf("Server");
export const lan = objectOf("Lan");
export const ipBlock = objectOf("IPBlock");
export const volume = objectOf("Volume");
export const snapshot = objectOf("Snapshot");
export const flowLog = objectOf("FlowLog");
export const kafkaCluster = objectOf("KafkaCluster");
export const kafkaTopic = objectOf("KafkaTopic");
export const metricPipeline = objectOf("MetricPipeline");
export const logPipeline = objectOf("LogPipeline");
export const centralLogging = objectOf("CentralLogging");
export const scalingGroup = objectOf("ScalingGroup");
