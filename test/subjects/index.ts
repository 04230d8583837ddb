import { accessToken } from "./access-token.ts";
import { account } from "./account.ts";
import { activityLogExport } from "./activity-log-export.ts";
import { centralLogging } from "./central-logging.ts";
import { clusterAccount } from "./cluster-account.ts";
import { datacenter } from "./datacenter.ts";
import { flowLog } from "./flow-log.ts";
import { grant } from "./grant.ts";
import { inferenceAccess } from "./inference-access.ts";
import { ipBlock } from "./ip-block.ts";
import { kafkaCluster } from "./kafka-cluster.ts";
import { kafkaTopic } from "./kafka-topic.ts";
import { kafkaUser } from "./kafka-user.ts";
import { lan } from "./lan.ts";
import { logPipeline } from "./log-pipeline.ts";
import { metricPipeline } from "./metric-pipeline.ts";
import { scalingGroup } from "./scaling-group.ts";
import { server } from "./server.ts";
import { snapshot } from "./snapshot.ts";
import type { Subject } from "./subject.ts";
import { volume } from "./volume.ts";

/** One per kind. */
export const subjects: readonly Subject[] = [
  account,
  clusterAccount,
  grant,
  inferenceAccess,
  activityLogExport,
  datacenter,
  server,
  lan,
  ipBlock,
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
  accessToken,
];
