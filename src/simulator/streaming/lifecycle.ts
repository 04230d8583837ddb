import type { Call } from "../http/exchange.ts";
import { errorCode, refusal } from "../http/refusal.ts";
import type { RegionalCall } from "../managed/service.ts";
import type { World } from "../world.ts";
import { type Cluster, type Topic, topicsOf } from "./records.ts";
import { settleCluster, settleTopic } from "./settle.ts";

/** Simulated milliseconds. */
const spans = {
  "cluster/create": [10_000, 20_000],
  "cluster/delete": [5_000, 10_000],
  "topic/create": [1_000, 3_000],
  "topic/delete": [1_000, 3_000],
  invisible: [200, 1_000],
} as const;

function drawn({ chance }: World, what: keyof typeof spans): number {
  const [low, high] = spans[what];
  return Math.round(chance.between(`streaming/${what}`, low, high));
}

/** The life of something new, DEPLOYING and not visible yet. */
function begun(world: World, call: Call, what: "cluster" | "topic") {
  const { at, caller, effects } = call;
  return {
    id: world.chance.uuid(`streaming-${what}`),
    state: "DEPLOYING" as const,
    failure: effects.failWith,
    dueAt: dueAfter(world, call, `${what}/create`),
    createdAt: at,
    createdBy: caller.user.id,
    modifiedAt: at,
    modifiedBy: caller.user.id,
    visibleAt: at + Math.max(drawn(world, "invisible"), effects.invisibleFor),
  };
}

const dueAfter = (world: World, { at, effects }: Call, what: keyof typeof spans) =>
  at + Math.round(drawn(world, what) * effects.slowdown);

/** What a deletion changes. */
const leaving = (world: World, call: Call, what: "cluster" | "topic") => ({
  state: "DESTROYING" as const,
  failure: call.effects.failWith,
  hidden: call.effects.hideWhileDeleting,
  dueAt: dueAfter(world, call, `${what}/delete`),
  modifiedAt: call.at,
  modifiedBy: call.caller.user.id,
});

export function createCluster(world: World, call: RegionalCall, properties: Cluster["properties"]): Cluster {
  const life = begun(world, call, "cluster");
  const userId = world.chance.uuid("streaming-user");
  const cluster: Cluster = { ...life, region: call.region, userId, properties };
  world.streaming.clusters.put(cluster.id, cluster);
  endAt(world, cluster, settleCluster);
  return cluster;
}

/** Its topics go with it, its brokers at once. */
export function deleteCluster(world: World, call: RegionalCall, cluster: Cluster): void {
  refuseLeaving(cluster, "cluster");
  const next: Cluster = { ...cluster, ...leaving(world, call, "cluster") };
  world.streaming.clusters.put(next.id, next);
  endAt(world, next, settleCluster);
}

/** Brokers take `.` and `_` in names of topics for one character, where they count. */
const counted = (name: string) => name.replaceAll(".", "_");

export function createTopic(world: World, call: RegionalCall, cluster: Cluster, given: Topic["properties"]): Topic {
  const other = topicsOf(world, cluster.id).find(({ properties: { name } }) => counted(name) === counted(given.name));
  if (other !== undefined) {
    throw conflict(`The cluster ${cluster.id} has a topic "${other.properties.name}" already (${other.id})`);
  }
  const topic: Topic = { ...begun(world, call, "topic"), clusterId: cluster.id, properties: given };
  world.streaming.topics.put(topic.id, topic);
  endAt(world, topic, settleTopic);
  return topic;
}

export function deleteTopic(world: World, call: RegionalCall, topic: Topic): void {
  refuseLeaving(topic, "topic");
  const next: Topic = { ...topic, ...leaving(world, call, "topic") };
  world.streaming.topics.put(next.id, next);
  endAt(world, next, settleTopic);
}

/** Puts what an earlier run had begun back on the agenda. */
export function resumeStreaming(world: World): void {
  const { clusters, topics } = world.streaming;
  for (const cluster of clusters.values()) endAt(world, cluster, settleCluster);
  for (const topic of topics.values()) endAt(world, topic, settleTopic);
}

const endAt = (world: World, { id, dueAt }: Cluster | Topic, settle: (world: World, id: string) => void) =>
  world.agenda.schedule(dueAt, () => world.documents.transaction(() => settle(world, id)));

function refuseLeaving({ id, state }: Cluster | Topic, what: "cluster" | "topic"): void {
  if (state === "DESTROYING") throw conflict(`The ${what} ${id} is being deleted`);
}

export const conflict = (message: string) => refusal(409, errorCode.refused, message);
