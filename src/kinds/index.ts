import { account } from "./account.ts";
import { centralLogging } from "./central-logging.ts";
import { datacenter } from "./datacenter.ts";
import { flowLog } from "./flow-log.ts";
import { ipBlock } from "./ipblock.ts";
import { kafkaCluster } from "./kafka-cluster.ts";
import { kafkaTopic } from "./kafka-topic.ts";
import { kafkaUser } from "./kafka-user.ts";
import type { Kind } from "./kind.ts";
import { lan } from "./lan.ts";
import { logPipeline } from "./log-pipeline.ts";
import { metricPipeline } from "./metric-pipeline.ts";
import { scalingGroup } from "./scaling-group.ts";
import { server } from "./server.ts";
import { snapshot } from "./snapshot.ts";
import { volume } from "./volume.ts";

/** Every kind there is. A kind exists when its line is here. */
export const kinds: readonly Kind[] = [
  account,
  datacenter,
  lan,
  ipBlock,
  server,
  volume,
  snapshot,
  flowLog,
  scalingGroup,
  metricPipeline,
  logPipeline,
  centralLogging,
  kafkaCluster,
  kafkaTopic,
  kafkaUser,
];

export const GROUP = "mooring.dev";
export const VERSION = "v1alpha1";
