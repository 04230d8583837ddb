import type { Call, Reply, Route } from "../http/exchange.ts";
import { missing } from "../http/refusal.ts";
import { collectionOf } from "../managed/kind.ts";
import { found, managedRoutes } from "../managed/routes.ts";
import { hostRoute, stampsOf, urnOf } from "../managed/service.ts";
import { wholeReply } from "../managed/view.ts";
import type { Cluster } from "../records/streaming.ts";
import type { World } from "../world.ts";
import { ensureCredentials, userName } from "./credentials.ts";
import { clusterKind, streaming, topicKind } from "./kinds.ts";

/** Event streaming: clusters, their topics and users, below one path per region. Nothing here can be updated. */
export function streamingRoutes(world: World): Route[] {
  const users = `${clusterKind.path}/{clusterId}/users`;
  return [
    ...managedRoutes(world, clusterKind),
    ...managedRoutes(world, topicKind),
    hostRoute(world, streaming, "GET", users, { handle: (call) => listUsers(world, call) }),
    hostRoute(world, streaming, "GET", `${users}/{userId}/access`, {
      handle: (call) => access(world, call),
      prepare: (call) => ensureCredentials(world, call.params.clusterId ?? ""),
    }),
  ];
}

const usersPath = (world: World, cluster: Cluster) =>
  `${collectionOf(world, clusterKind, cluster)}/${cluster.id}/users`;

/** The user exists when the cluster is AVAILABLE. */
function listUsers(world: World, call: Call): Reply {
  const cluster = found(world, clusterKind, call);
  const users = cluster.state === "AVAILABLE" ? [shownUser(world, call, cluster)] : [];
  return wholeReply(call, usersPath(world, cluster), users);
}

function access(world: World, call: Call): Reply {
  const cluster = found(world, clusterKind, call);
  const authority = world.streaming.authorities.get(cluster.id);
  const credentials = world.streaming.credentials.get(cluster.id);
  if (cluster.state !== "AVAILABLE" || cluster.userId !== call.params.userId) throw missing();
  if (authority === undefined || credentials === undefined) throw missing();
  const { certificate, privateKey } = credentials;
  const secrets = { certificateAuthority: authority.certificate, certificate, privateKey };
  return { status: 200, body: shownUser(world, call, cluster, secrets) };
}

/** The user of a cluster; with `secrets` also the certificate and key that brokers accept. */
function shownUser(world: World, call: Call, cluster: Cluster, secrets: object = {}) {
  const { userId, createdAt, createdBy, state } = cluster;
  return {
    id: userId,
    type: "user",
    href: `${call.origin}${usersPath(world, cluster)}/${userId}`,
    metadata: {
      ...stampsOf(world, call, { createdAt, createdBy, modifiedAt: createdAt, modifiedBy: createdBy }),
      resourceURN: urnOf(world, streaming, "user", userId),
      state,
      ...secrets,
    },
    properties: { name: userName },
  };
}
