import type { Call, Reply, Route } from "../../http/exchange.ts";
import { refused } from "../../http/refusal.ts";
import { basePath, textIn } from "../../store/resource.ts";
import type { World } from "../../world.ts";
import { defaultKubernetesVersion, kubernetesCluster, kubernetesVersions } from "../kubernetes/cluster.ts";
import { node, nodePool } from "../kubernetes/node-pool.ts";
import { accept, drawDuration, newWrite } from "../provisioning/provisioning.ts";
import { refuseBusy } from "../provisioning/reading.ts";
import { resolve } from "./table-routes.ts";

/** Managed Kubernetes beyond the table: versions on offer, the kubeconfig, and replacing a node. */
export function kubernetesRoutes(world: World): Route[] {
  const route = (method: "GET" | "POST", path: string, handle: Route["handle"]): Route => ({
    method,
    template: `${basePath}/k8s${path}`,
    access: "user",
    handle,
  });
  return [
    route("GET", "/versions", () => ({ status: 200, body: kubernetesVersions })),
    route("GET", "/versions/default", () => ({ status: 200, body: defaultKubernetesVersion })),
    route("GET", "/{k8sClusterId}/kubeconfig", (call) => kubeconfig(world, call)),
    route("POST", "/{k8sClusterId}/nodepools/{nodepoolId}/nodes/{nodeId}/replace", (call) => replace(world, call)),
  ];
}

/** The form of a real kubeconfig; there is no API server behind a simulated cluster. */
function kubeconfig(world: World, call: Call): Reply {
  const { resource: cluster } = resolve(world, call, [kubernetesCluster]);
  if (cluster.shownState === "DEPLOYING") {
    throw refused("[K8S-2] The cluster is DEPLOYING; its kubeconfig is there when it is ACTIVE");
  }
  const name = textIn(cluster.properties, "name") ?? cluster.id;
  return {
    status: 200,
    body: {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name, cluster: { server: `https://${cluster.id}.k8s.simulator.example` } }],
      users: [{ name: "cluster-admin", user: { token: cluster.id } }],
      contexts: [{ name: `cluster-admin@${name}`, context: { cluster: name, user: "cluster-admin" } }],
      "current-context": `cluster-admin@${name}`,
      preferences: {},
    },
  };
}

function replace(world: World, call: Call): Reply {
  const { path, resource: replaced } = resolve(world, call, [kubernetesCluster, nodePool, node]);
  refuseBusy(path);
  const write = newWrite(world, call);
  world.resources.put({ ...replaced, state: "BUSY", shownState: node.states?.update });
  drawDuration(write, "replace/node", node.spans?.update ?? [0, 0]);
  write.targets.push(replaced);
  write.onDone.push({ op: "settle", key: replaced.key });
  write.onFailed.push({ op: "settle", key: replaced.key });
  return accept(write, replaced);
}
