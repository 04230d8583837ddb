import { datacenter } from "./compute/datacenter.ts";
import { scalingGroup } from "./compute/scaling-group/scaling-group.ts";
import { server } from "./compute/server/server.ts";
import { snapshot } from "./compute/snapshot.ts";
import { volume } from "./compute/volume/volume.ts";
import { accessToken } from "./identity/access-token.ts";
import { account } from "./identity/account.ts";
import { clusterAccount } from "./identity/cluster-account.ts";
import { grant } from "./identity/grant.ts";
import { inferenceAccess } from "./inference/inference-access.ts";
import type { Kind } from "./kind.ts";
import { flowLog } from "./network/flow-log.ts";
import { ipBlock } from "./network/ipblock.ts";
import { lan } from "./network/lan.ts";
import { activityLogExport } from "./observability/activity-log-export.ts";
import { centralLogging } from "./observability/central-logging.ts";
import { logPipeline } from "./observability/log-pipeline.ts";
import { metricPipeline } from "./observability/metric-pipeline.ts";
import { kafkaCluster } from "./streaming/kafka-cluster.ts";
import { kafkaTopic } from "./streaming/kafka-topic.ts";
import { kafkaUser } from "./streaming/kafka-user.ts";

/** Every kind. A kind exists once its line is here. */
export const kinds: readonly Kind[] = [
  account,
  clusterAccount,
  grant,
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
  accessToken,
  inferenceAccess,
  activityLogExport,
];

export const GROUP = "mooring.dev";
export const VERSION = "v1alpha1";
