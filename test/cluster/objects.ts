import { subjects } from "../subjects/index.ts";
import { manifest } from "../subjects/surroundings.ts";

/** A manifest of a kind; `spec` is merged into a valid one. */
const of = (kind: string) => {
  const valid = subjects.find((subject) => subject.kind === kind)?.spec;
  if (!valid) throw new Error(`there is no ${kind} in test/subjects`);
  return (name: string, spec: object = {}) => manifest(kind, name, { ...valid, ...spec });
};

export const datacenter = of("Datacenter");
export const server = of("Server");
export const lan = of("Lan");
export const ipBlock = of("IPBlock");
export const volume = of("Volume");
export const snapshot = of("Snapshot");
export const flowLog = of("FlowLog");
export const kafkaCluster = of("KafkaCluster");
export const kafkaTopic = of("KafkaTopic");
export const metricPipeline = of("MetricPipeline");
export const logPipeline = of("LogPipeline");
export const centralLogging = of("CentralLogging");
export const scalingGroup = of("ScalingGroup");
