import { isVisible } from "../store/shown.ts";
import { timestamp } from "../time.ts";
import type { World } from "../world.ts";
import type { Cluster, Topic } from "./records.ts";

/** What steering shows of event streaming: no key. */
export function streamingState({ clock, streaming: { clusters, topics } }: World) {
  const life = (each: Cluster | Topic) => ({
    state: each.state,
    failure: each.failure,
    visible: isVisible(each, clock.now()),
    createdDate: timestamp(each.createdAt),
    createdByUserId: each.createdBy,
    properties: each.properties,
  });
  return {
    streamingClusters: [...clusters.values()].map((each) => ({
      id: each.id,
      type: "cluster",
      region: each.region,
      ...life(each),
    })),
    streamingTopics: [...topics.values()].map((each) => ({
      id: each.id,
      type: "topic",
      clusterId: each.clusterId,
      ...life(each),
    })),
  };
}
