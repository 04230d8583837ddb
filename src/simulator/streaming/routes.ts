import type { Method, Reply, Route } from "../http/exchange.ts";
import { missing } from "../http/refusal.ts";
import { type RegionalCall, type RegionalHandler, serviceRoute } from "../managed/service.ts";
import { isListed, isVisible } from "../store/shown.ts";
import type { World } from "../world.ts";
import { givenCluster, givenTopic } from "./body.ts";
import { ensureCredentials } from "./credentials.ts";
import { conflict, createCluster, createTopic, deleteCluster, deleteTopic } from "./lifecycle.ts";
import { type Cluster, type Topic, topicsOf } from "./records.ts";
import { streaming } from "./service.ts";
import { shownCluster, shownList, shownTopic, shownUser } from "./view.ts";

type Handle = (world: World, call: RegionalCall) => Reply;

/** Event streaming: clusters, their topics and users, below one path per region. Nothing here can be updated. */
export function streamingRoutes(world: World): Route[] {
  const cluster = "/clusters/{clusterId}";
  const topic = `${cluster}/topics/{topicId}`;
  const handlers: [Method, string, Handle, RegionalHandler["prepare"]?][] = [
    ["GET", "/clusters", listClusters],
    ["POST", "/clusters", addCluster],
    ["GET", cluster, (_, call) => ok(shownCluster(world, call, foundCluster(world, call)))],
    ["DELETE", cluster, removeCluster],
    ["GET", `${cluster}/topics`, listTopics],
    ["POST", `${cluster}/topics`, addTopic],
    ["GET", topic, (_, call) => ok(shownTopic(world, call, foundTopic(world, call)))],
    ["DELETE", topic, removeTopic],
    ["GET", `${cluster}/users`, listUsers],
    [
      "GET",
      `${cluster}/users/{userId}/access`,
      access,
      (call) => ensureCredentials(world, call.params.clusterId ?? ""),
    ],
  ];
  return handlers.map(([method, path, handle, prepare]) =>
    serviceRoute(world, streaming, method, path, { handle: (call) => handle(world, call), prepare }),
  );
}

const ok = (body: object): Reply => ({ status: 200, body });
const accepted: Reply = { status: 202 };

/** The cluster that a path names, in this region; 404 also while it cannot be seen yet. */
function foundCluster({ streaming: { clusters } }: World, { params, region, at }: RegionalCall): Cluster {
  const cluster = clusters.get(params.clusterId ?? "");
  if (cluster === undefined || cluster.region !== region || !isVisible(cluster, at)) throw missing();
  return cluster;
}

/** The same for calls about its topics, which have to wait until it is there. */
function readyCluster(world: World, call: RegionalCall): Cluster {
  const cluster = foundCluster(world, call);
  if (cluster.state === "AVAILABLE") return cluster;
  throw conflict(`The cluster ${cluster.id} is ${cluster.state}: it has topics when it is AVAILABLE`);
}

function foundTopic(world: World, call: RegionalCall): Topic {
  const { id } = readyCluster(world, call);
  const topic = world.streaming.topics.get(call.params.topicId ?? "");
  if (topic?.clusterId !== id || !isVisible(topic, call.at)) throw missing();
  return topic;
}

/** What a list shows to a call. */
const seen = <T extends Cluster | Topic>(items: Iterable<T>, call: RegionalCall): T[] =>
  [...items].filter((each) => isListed(each, call));

const listClusters: Handle = (world, call) => {
  const name = call.query.get("filter.name")?.toLowerCase() ?? "";
  const state = call.query.get("filter.state") || undefined;
  const clusters = seen(world.streaming.clusters.values(), call).filter(
    (each) =>
      each.region === call.region &&
      each.properties.name.toLowerCase().includes(name) &&
      (state === undefined || each.state === state.toUpperCase()),
  );
  return ok(
    shownList(
      call,
      "clusters",
      clusters.map((each) => shownCluster(world, call, each)),
    ),
  );
};

const addCluster: Handle = (world, call) => ({
  status: 201,
  body: shownCluster(world, call, createCluster(world, call, givenCluster(world, call))),
});

const removeCluster: Handle = (world, call) => {
  deleteCluster(world, call, foundCluster(world, call));
  return accepted;
};

const listTopics: Handle = (world, call) => {
  const { id } = readyCluster(world, call);
  const topics = seen(topicsOf(world, id), call).map((each) => shownTopic(world, call, each));
  return ok(shownList(call, `clusters/${id}/topics`, topics));
};

const addTopic: Handle = (world, call) => {
  const cluster = readyCluster(world, call);
  return {
    status: 201,
    body: shownTopic(world, call, createTopic(world, call, cluster, givenTopic(call.body, world.dataPlane.brokers))),
  };
};

const removeTopic: Handle = (world, call) => {
  deleteTopic(world, call, foundTopic(world, call));
  return accepted;
};

/** The user is there when the cluster is. */
const listUsers: Handle = (world, call) => {
  const cluster = foundCluster(world, call);
  const users = cluster.state === "AVAILABLE" ? [shownUser(world, call, cluster)] : [];
  return ok(shownList(call, `clusters/${cluster.id}/users`, users));
};

const access: Handle = (world, call) => {
  const cluster = foundCluster(world, call);
  const { authorities, credentials } = world.streaming;
  const authority = authorities.get(cluster.id);
  const own = credentials.get(cluster.id);
  if (cluster.state !== "AVAILABLE" || cluster.userId !== call.params.userId) throw missing();
  if (authority === undefined || own === undefined) throw missing();
  const { certificate, privateKey } = own;
  const opening = { certificateAuthority: authority.certificate, certificate, privateKey };
  return ok(shownUser(world, call, cluster, opening));
};
