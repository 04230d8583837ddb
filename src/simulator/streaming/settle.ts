import type { World } from "../world.ts";
import type { Progress } from "./data-plane.ts";
import { type Cluster, type Topic, topicsOf } from "./records.ts";
import { streaming } from "./service.ts";

/**
 * What is DEPLOYING or DESTROYING comes to its end when its time is over and the brokers have done their part, whichever
 * is later. Both look here: the agenda at the instant, the data plane whenever it has come further. Inside a transaction.
 */
export function settleCluster(world: World, id: string): void {
  const { clusters } = world.streaming;
  const cluster = clusters.get(id);
  if (cluster === undefined) return;
  const end = endOf(world, cluster, () => world.dataPlane.clusterProgress(cluster));
  noteEnd(world, "cluster", cluster, end, `/${streaming.path}/${cluster.region}/clusters`);
  if (end === "gone") removeCluster(world, id);
  else if (end !== undefined) clusters.put(id, { ...cluster, ...end, hidden: false });
}

export function settleTopic(world: World, id: string): void {
  const { topics } = world.streaming;
  const topic = topics.get(id);
  if (topic === undefined) return;
  const end = endOf(world, topic, () => world.dataPlane.topicProgress(topic));
  const region = world.streaming.clusters.get(topic.clusterId)?.region ?? "";
  noteEnd(world, "topic", topic, end, `/${streaming.path}/${region}/clusters/${topic.clusterId}/topics`);
  if (end === "gone") topics.delete(id);
  else if (end !== undefined) topics.put(id, { ...topic, ...end, hidden: false });
}

type End = Pick<Cluster, "state" | "failure"> | "gone";

/** How it ends now; undefined: not yet, or it is at rest. */
function endOf(world: World, { state, failure, dueAt }: Cluster | Topic, progress: () => Progress): End | undefined {
  if ((state !== "DEPLOYING" && state !== "DESTROYING") || world.clock.now() < dueAt) return undefined;
  if (failure !== null) return { state: "FAILED", failure };
  const reached = progress();
  switch (reached.kind) {
    case "pending":
      return undefined;
    case "failed":
      return { state: "FAILED", failure: reached.message };
    case "done":
      return state === "DESTROYING" ? "gone" : { state: "AVAILABLE", failure };
  }
}

function noteEnd(
  world: World,
  type: string,
  { id, state, modifiedBy: by }: Cluster | Topic,
  end: End | undefined,
  collection: string,
): void {
  if (end === undefined) return;
  const method = state === "DESTROYING" ? "DELETE" : "POST";
  world.activity.settled({ method, collection, type, id, by, failure: end === "gone" ? null : end.failure });
}

function removeCluster(world: World, id: string): void {
  const { clusters, topics, authorities, credentials, ports } = world.streaming;
  for (const topic of topicsOf(world, id)) topics.delete(topic.id);
  for (const table of [authorities, credentials, ports, clusters]) table.delete(id);
}
