import { z } from "zod";
import { coreRows } from "./core.ts";
import type { Row } from "./row.ts";

const { list, get, plain } = coreRows("k8s");
const POOLS = "/k8s/{k8s_cluster_id}/nodepools";

export const k8s: readonly Row[] = [
  list("list_k8s_clusters", "/k8s", "Managed Kubernetes clusters with version and state. Then list_k8s_nodepools."),
  get(
    "get_k8s_cluster",
    "/k8s/{k8s_cluster_id}",
    "One cluster: version, maintenance window, versions it can be upgraded to.",
  ),
  list(
    "list_k8s_nodepools",
    POOLS,
    "Node pools of a cluster: size, version, autoscaling. Then list_k8s_nodepool_nodes.",
  ),
  get("get_k8s_nodepool", `${POOLS}/{nodepool_id}`, "One node pool."),
  list(
    "list_k8s_nodepool_nodes",
    `${POOLS}/{nodepool_id}/nodes`,
    "Nodes of a pool with addresses and state: use it when a node is missing in the cluster.",
  ),
  get("get_k8s_node", `${POOLS}/{nodepool_id}/nodes/{node_id}`, "One node of a pool."),
  plain(
    "list_k8s_versions",
    "/k8s/versions",
    "Kubernetes versions that clusters can have.",
    z.looseObject({ items: z.array(z.string()) }),
  ),
  plain(
    "get_k8s_default_version",
    "/k8s/versions/default",
    "The version that a new cluster gets.",
    z.object({ version: z.string() }),
    (version) => ({ version }),
  ),
];
