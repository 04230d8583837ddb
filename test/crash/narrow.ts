import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { stringify } from "yaml";
import { operatorPolicies } from "../../src/cli/manifests/policy.ts";
import { namespaceOf, usernameOf } from "../../src/cli/manifests/rbac.ts";
import { resourceOf } from "../../src/engine/state/object.ts";
import { clusterAccount } from "../../src/kinds/identity/cluster-account.ts";
import { kinds } from "../../src/kinds/index.ts";
import { isNotFound } from "../../src/kube/client/errors.ts";
import { loadKubeconfig } from "../../src/kube/client/kubeconfig.ts";
import type { KubeClient } from "../../src/kube/client/transport.ts";
import { pathOf } from "../../src/kube/resource.ts";
import { SHARED_NAMESPACE } from "../../src/operator/installation.ts";
import { leaseOf } from "../../src/operator/lease-name.ts";
import { SIGNING_KEY } from "../../src/operator/signing-key.ts";
import { OTHER } from "./disturbance.ts";

const LIVES = "crash-";

const LEASES = "/apis/coordination.k8s.io/v1/namespaces";

const inNoNamespace = new Set([
  "namespaces",
  ...kinds.filter(({ scope }) => scope === "Cluster").map(({ plural }) => plural),
]);

/**
 * Shows an operator for all namespaces only one: lists and watches are of that namespace, and cluster-scoped kinds have
 * only the object of that name. So the operators of concurrent lives do not interfere.
 */
export const narrowedTo =
  (namespace: string) =>
  (url: string): string => {
    const { pathname, search, searchParams } = new URL(url, "http://operator");
    // Installations that do not see each other need not wait for each other.
    const isMarker = pathname.startsWith(`${LEASES}/${SHARED_NAMESPACE}/`);
    if (isMarker)
      return `${LEASES}/${namespace}${pathname.slice(LEASES.length + SHARED_NAMESPACE.length + 1)}${search}`;
    const [, root, plural] = /^(\/apis?\/(?:[^/]+\/)?v[^/]+)\/([^/]+)$/.exec(pathname) ?? [];
    if (root === undefined || plural === undefined) return url;
    if (!inNoNamespace.has(plural)) return `${root}/namespaces/${namespace}/${plural}${search}`;
    searchParams.set("fieldSelector", `metadata.name=${namespace}`);
    return `${pathname}?${searchParams}`;
  };

/** The operator creates its signing key only in its own namespace. */
export const signingKey = (namespace: string) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: SIGNING_KEY, namespace },
  stringData: { current: randomBytes(32).toString("base64url") },
});

/** The namespace of one life. */
export const lifeNamespace = (): string => `${LIVES}${randomBytes(5).toString("hex")}`;

/** The namespace of every life is an operator's own, where it may read the Lease of a shard. */
export function rightsOfLives(): object[] {
  const name = "mooring-crash";
  const rule = {
    apiGroups: ["coordination.k8s.io"],
    resources: ["leases"],
    resourceNames: [leaseOf(OTHER)],
    verbs: ["get"],
  };
  const apiGroup = "rbac.authorization.k8s.io";
  const apiVersion = `${apiGroup}/v1`;
  const roleRef = { apiGroup, kind: "ClusterRole", name };
  const subjects = [{ apiGroup, kind: "User", name: usernameOf({}) }];
  return [
    { apiVersion, kind: "ClusterRole", metadata: { name }, rules: [rule] },
    { apiVersion, kind: "ClusterRoleBinding", metadata: { name }, roleRef, subjects },
  ];
}

/** The shipped policies, which also accept the namespace of every life as the operator's. */
export function policiesOfLives(): object[] {
  const isHome = `request.namespace == '${namespaceOf({})}'`;
  const either = `(${isHome} || request.namespace.startsWith('${LIVES}'))`;
  return JSON.parse(JSON.stringify(operatorPolicies()).replaceAll(isHome, either));
}

/** It is cluster-scoped, and its operator is gone. */
export async function removeClusterAccount(admin: KubeClient, name: string): Promise<void> {
  const path = pathOf(resourceOf(clusterAccount), { name });
  const body = { metadata: { finalizers: null } };
  try {
    await admin.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
    await admin.request({ method: "DELETE", path });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Server, CA and token of a kubeconfig. */
export async function readKubeconfig(path: string): Promise<{ server: string; ca: Buffer; token: string }> {
  const { cluster, user } = await loadKubeconfig([path]);
  const data = cluster["certificate-authority-data"];
  const file = cluster["certificate-authority"];
  const ca = data !== undefined ? Buffer.from(data, "base64") : await readFile(file ?? "");
  return { server: cluster.server, ca, token: user.token ?? "" };
}

/** A kubeconfig for another address and the same token. */
export function kubeconfigOf(server: string, token: string): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "proxy", cluster: { server } }],
    users: [{ name: "mooring", user: { token } }],
    contexts: [{ name: "proxy", context: { cluster: "proxy", user: "mooring" } }],
    "current-context": "proxy",
  });
}
