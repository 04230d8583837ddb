import { z } from "zod";
import { type AccountHandle, lackOfAddress } from "../../engine/accounts/accounts.ts";
import type { Deps } from "../../engine/observe/deps.ts";
import { type Resolved, resolveReferences } from "../../engine/observe/spec/references.ts";
import { keyOfTarget, type ObjectKey } from "../../engine/state/object.ts";
import type { Reason } from "../../engine/status/reasons.ts";
import { readStatus } from "../../engine/status/status.ts";
import type { Pass } from "../../engine/write/record.ts";
import type { ObjectRef } from "../../kinds/desired.ts";
import { type ActivityLogExportSpec, activityLogExport } from "../../kinds/observability/activity-log-export.ts";
import type { KubeObject } from "../../kube/resource.ts";
import type { Sites } from "../../platform/addresses/account-addresses.ts";
import { spellingOf } from "../../platform/addresses/endpoints.ts";
import { toBucket } from "../../platform/export/bucket.ts";
import type { DestinationClients } from "../../platform/export/clients.ts";
import type { Destination } from "../../platform/export/destination.ts";
import { toKafka } from "../../platform/export/kafka.ts";
import { toLogPipeline } from "../../platform/export/log-pipeline.ts";
import { readSecret } from "./secrets.ts";

export interface DestinationDeps extends Deps {
  sites: Sites;
  destinations: DestinationClients;
}

/** A pass over an export, with the Account it reads with. */
export type Export = Pass & { account: AccountHandle };

/** The destination in spec. Its Secrets are read for each delivery, and not kept. */
export async function destinationOf(
  deps: DestinationDeps,
  pass: Export,
  { destination }: ActivityLogExportSpec,
): Promise<Resolved<Destination>> {
  const { key, object } = pass;
  const references = activityLogExport.task?.references(object.spec) ?? [];
  const resolved = resolveReferences(deps.objects, object, { references });
  if ("obstacle" in resolved) return resolved;
  const { bucket, logPipelineRef, kafkaTopicRef, kafkaUserRef } = destination;
  if (bucket) return bucketOf(deps, pass, bucket);
  const find = (kind: string, ref: ObjectRef | undefined): KubeObject | undefined =>
    ref && deps.objects.find(keyOfTarget(object.metadata.namespace ?? "", kind, ref))?.object;
  const pipeline = find("LogPipeline", logPipelineRef);
  if (pipeline) return pipelineOf(deps, key, pipeline);
  const [topic, user] = [find("KafkaTopic", kafkaTopicRef), find("KafkaUser", kafkaUserRef)];
  return topic && user ? kafkaOf(deps, topic, user) : problem("InvalidSpec", "spec.destination names nothing");
}

const problem = (reason: Reason, message: string) => ({ obstacle: { reason, message } });

async function bucketOf(
  deps: DestinationDeps,
  { key, object, account }: Export,
  bucket: NonNullable<ActivityLogExportSpec["destination"]["bucket"]>,
): Promise<Resolved<Destination>> {
  const { name, endpoint: own, region, prefix = "", secretRef } = bucket;
  const isOwn = own === undefined || spellingOf(own) === spellingOf(deps.sites.endpoints.objectStorage ?? "");
  if (!isOwn && !deps.sites.isAllowed(own)) {
    const message = `spec.destination.bucket.endpoint: the operator does not allow ${own}: remove the field to use the object storage of the Account, or ask the administrator to allow it (--allow-endpoint)`;
    return problem("EndpointNotAllowed", message);
  }
  const endpointOf = () => (own !== undefined ? spellingOf(own) : account.endpoint("objectStorage"));
  const obstacle = lackOfAddress(endpointOf);
  if (obstacle) return { obstacle };
  const endpoint = endpointOf();
  const field = "destination.bucket.secretRef";
  const keys = { accessKey: "plain", secretKey: "plain" } as const;
  const found = await readSecret(deps, object, { field, name: secretRef.name, keys });
  if ("obstacle" in found) return found;
  const { accessKey = "", secretKey = "" } = found.value;
  const place = { endpoint, bucket: name, prefix, region, accessKey, secretKey };
  return { value: toBucket(deps.destinations.of(key), place, deps.guard) };
}

const streams = z.looseObject({ logs: z.array(z.looseObject({ tag: z.string(), protocol: z.string() })).optional() });

async function pipelineOf(deps: DestinationDeps, key: ObjectKey, pipeline: KubeObject): Promise<Resolved<Destination>> {
  const field = "destination.logPipelineRef";
  const { name } = pipeline.metadata;
  const tag = streams.safeParse(pipeline.spec).data?.logs?.find(({ protocol }) => protocol === "http")?.tag;
  if (tag === undefined) {
    const message = `${field}: LogPipeline ${name} has no log with protocol http: add one to its spec.logs`;
    return problem("InvalidSpec", message);
  }
  const keys = { httpAddress: "plain", key: "plain" } as const;
  const found = await readSecret(deps, pipeline, { field, name: readStatus(pipeline).secretName ?? "", keys });
  if ("obstacle" in found) return found;
  const { httpAddress = "", key: apiKey = "" } = found.value;
  return { value: toLogPipeline(deps.destinations.of(key), { httpAddress, tag, key: apiKey }, deps.guard) };
}

const KAFKA_FILES = {
  "bootstrap.servers": "plain",
  "ca.crt": "certificate",
  "tls.crt": "certificate",
  "tls.key": "privateKey",
} as const;

const named = z.looseObject({ name: z.string().optional() });

async function kafkaOf(deps: DestinationDeps, topic: KubeObject, user: KubeObject): Promise<Resolved<Destination>> {
  const field = "destination.kafkaUserRef";
  const clusterOf = (object: KubeObject) => readStatus(object).parents?.cluster;
  if (clusterOf(topic) !== clusterOf(user)) {
    const message = `${field}: KafkaUser ${user.metadata.name} belongs to another KafkaCluster than KafkaTopic ${topic.metadata.name}`;
    return problem("InvalidSpec", message);
  }
  const found = await readSecret(deps, user, { field, name: readStatus(user).secretName ?? "", keys: KAFKA_FILES });
  if ("obstacle" in found) return found;
  const { "bootstrap.servers": servers = "", "ca.crt": ca = "", "tls.crt": certificate = "" } = found.value;
  const place = {
    brokers: servers.split(","),
    topic: named.safeParse(topic.spec).data?.name ?? topic.metadata.name,
    ca,
    certificate,
    privateKey: found.value["tls.key"] ?? "",
    isAllowed: deps.sites.isAllowed,
    lookup: deps.sites.lookup,
  };
  return { value: toKafka(place, deps.guard) };
}
