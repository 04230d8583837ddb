import { type RegionalCall, stampsOf, urnOf } from "../managed/service.ts";
import type { World } from "../world.ts";
import { userName } from "./credentials.ts";
import type { Cluster, Topic } from "./records.ts";
import { hrefOf, streaming } from "./service.ts";

function metadataOf(world: World, call: RegionalCall, type: "cluster" | "topic", each: Cluster | Topic) {
  return {
    ...stampsOf(world, call, each),
    resourceURN: urnOf(world, streaming, type, each.id),
    state: each.state,
    ...(each.state === "FAILED" && { message: each.failure }),
  };
}

export function shownCluster(world: World, call: RegionalCall, cluster: Cluster) {
  const { id, state, properties } = cluster;
  const notice = state === "AVAILABLE" ? world.dataPlane.noticeOf(cluster) : undefined;
  return {
    id,
    type: "cluster",
    href: hrefOf(call.origin, call.region, `clusters/${id}`),
    metadata: {
      ...metadataOf(world, call, "cluster", cluster),
      ...(notice !== undefined && { message: notice }),
      ...(world.forms.public && state === "AVAILABLE" && { brokerAddresses: world.dataPlane.addressesOf(cluster) }),
    },
    properties,
  };
}

/** What the brokers do with a topic that says nothing: seven days, in segments of 1 GiB. */
const brokerRetention = { retentionTime: 604_800_000, segmentBytes: 1_073_741_824 };

export const shownTopic = (world: World, call: RegionalCall, topic: Topic) => ({
  id: topic.id,
  type: "topic",
  href: hrefOf(call.origin, call.region, `clusters/${topic.clusterId}/topics/${topic.id}`),
  metadata: metadataOf(world, call, "topic", topic),
  properties: { ...topic.properties, logRetention: { ...brokerRetention, ...topic.properties.logRetention } },
});

/** The user of a cluster; with `access` also what opens the brokers to him. */
export function shownUser(world: World, call: RegionalCall, cluster: Cluster, access: object = {}) {
  const { id, userId } = cluster;
  return {
    id: userId,
    type: "user",
    href: hrefOf(call.origin, call.region, `clusters/${id}/users/${userId}`),
    metadata: {
      ...stampsOf(world, call, { ...cluster, modifiedAt: cluster.createdAt, modifiedBy: cluster.createdBy }),
      resourceURN: urnOf(world, streaming, "user", userId),
      state: cluster.state,
      ...access,
    },
    properties: { name: userName },
  };
}

/** These lists have no pages. */
export const shownList = (call: RegionalCall, path: string, items: object[]) => ({
  id: path.split("/").at(-1),
  type: "collection",
  href: hrefOf(call.origin, call.region, path),
  items,
});
