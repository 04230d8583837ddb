import type { Call } from "../http/exchange.ts";
import { conflict } from "../http/refusal.ts";
import { contains, type Managed } from "../managed/kind.ts";
import { found } from "../managed/routes.ts";
import type { Host } from "../managed/service.ts";
import { type Cluster, type ClusterFields, type TopicFields, topicsOf } from "../records/streaming.ts";
import type { World } from "../world.ts";
import { givenCluster, givenTopic } from "./body.ts";

const slugs = ["de-fra", "de-txl", "es-vit", "fr-par", "gb-bhx", "gb-lhr", "us-ewr", "us-las", "us-mci"];

/** Event streaming. Every user of the contract may call it. */
export const streaming: Host = { path: "streaming", regions: new Set(slugs) };

/** The fields that clusters and topics have in common. Nothing of them can be changed. */
const streamingLike = (type: "cluster" | "topic") =>
  ({
    host: streaming,
    type,
    statuses: { create: 201, change: 200 },
    working: "DEPLOYING",
    unseen: [200, 1_000],
    draws: {
      id: `streaming-${type}`,
      time: (what) => (what === "unseen" ? "streaming/invisible" : `streaming/${type}/${what}`),
    },
    paged: false,
    failed: (_, { failure }) => ({ message: failure }),
  }) satisfies Partial<Managed<object>>;

export const clusterKind: Managed<ClusterFields> = {
  ...streamingLike("cluster"),
  path: "/{region}/clusters",
  param: "clusterId",
  span: { create: [10_000, 20_000], delete: [5_000, 10_000] },
  table: ({ streaming: { clusters } }) => clusters,
  names: (_, { region }) => ({ region }),
  within:
    (_, { params }) =>
    ({ region }) =>
      region === params.region,
  given: (world, call) => ({
    region: call.params.region ?? "",
    properties: givenCluster(world, call),
    userId: world.chance.uuid("streaming-user"),
  }),
  properties: ({ properties }) => properties,
  metadata({ dataPlane, forms }, cluster) {
    const isReady = cluster.state === "AVAILABLE";
    const notice = isReady ? dataPlane.noticeOf(cluster) : undefined;
    return {
      state: cluster.state,
      ...(notice !== undefined && { message: notice }),
      ...(forms.public && isReady && { brokerAddresses: dataPlane.addressesOf(cluster) }),
    };
  },
  inspected: (_, { region }) => ({ region }),
  filters: {
    name: ({ properties: { name } }, value) => contains(name, value),
    state: ({ state }, value) => state === value.toUpperCase(),
  },
  progress: ({ dataPlane }, cluster) => dataPlane.clusterProgress(cluster),
  /** Topics, keys and ports are deleted with the cluster. */
  gone(world, { id }) {
    const { topics, authorities, credentials, ports } = world.streaming;
    for (const topic of topicsOf(world, id)) topics.delete(topic.id);
    for (const table of [authorities, credentials, ports]) table.delete(id);
  },
};

/** The cluster of a call about topics; 409 until it is AVAILABLE. */
function readyCluster(world: World, call: Call): Cluster {
  const cluster = found(world, clusterKind, call);
  if (cluster.state === "AVAILABLE") return cluster;
  throw conflict(`The cluster ${cluster.id} is ${cluster.state}: its topics can be used when it is AVAILABLE`);
}

/** The retention of the brokers for a topic that names none: seven days, in segments of 1 GiB. */
const brokerRetention = { retentionTime: 604_800_000, segmentBytes: 1_073_741_824 };

/** In the metrics of brokers, `.` and `_` in the name of a topic are the same character. */
const metricName = (name: string) => name.replaceAll(".", "_");

export const topicKind: Managed<TopicFields> = {
  ...streamingLike("topic"),
  path: "/{region}/clusters/{clusterId}/topics",
  param: "topicId",
  span: { create: [1_000, 3_000], delete: [1_000, 3_000] },
  table: ({ streaming: { topics } }) => topics,
  names: (world, { clusterId }) => ({
    region: world.streaming.clusters.get(clusterId)?.region ?? "",
    clusterId,
  }),
  within(world, call) {
    const { id } = readyCluster(world, call);
    return ({ clusterId }) => clusterId === id;
  },
  given(world, { body, params: { clusterId = "" } }) {
    const properties = givenTopic(body, world.dataPlane.brokers);
    const isSame = ({ properties: { name } }: TopicFields) => metricName(name) === metricName(properties.name);
    const other = topicsOf(world, clusterId).find(isSame);
    if (other === undefined) return { clusterId, properties };
    throw conflict(`The cluster ${clusterId} has a topic "${other.properties.name}" already (${other.id})`);
  },
  properties: ({ properties }) => properties,
  answered: (_, { properties: { logRetention } }) => ({ logRetention: { ...brokerRetention, ...logRetention } }),
  metadata: (_, { state }) => ({ state }),
  inspected: (_, { clusterId }) => ({ clusterId }),
  progress: ({ dataPlane }, topic) => dataPlane.topicProgress(topic),
};
