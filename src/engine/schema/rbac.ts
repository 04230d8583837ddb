import { GROUP } from "../../kinds/index.ts";
import type { Kind } from "../../kinds/kind.ts";

const NAME = "mooring";
const NAMESPACE = "mooring-system";

/** What the operator may do in a cluster: as much as the engine uses, and no more. */
export function manifests(kinds: readonly Kind[]): object[] {
  const resources = kinds.map(({ plural }) => plural);
  const rules = [
    { apiGroups: [GROUP], resources, verbs: ["get", "list", "watch", "patch"] },
    { apiGroups: [GROUP], resources: resources.map((plural) => `${plural}/status`), verbs: ["patch"] },
    { apiGroups: [GROUP], resources: resources.map((plural) => `${plural}/finalizers`), verbs: ["update"] },
    // Credentials and first-boot configuration, each read by its name only; the finalizer on credentials is a patch.
    // Keys that the platform hands out are written into Secrets that belong to their object.
    { apiGroups: [""], resources: ["secrets"], verbs: ["get", "list", "watch", "create", "update", "patch"] },
    { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
    // Whether one is being deleted: nothing is made in it then.
    { apiGroups: [""], resources: ["namespaces"], verbs: ["get", "list", "watch"] },
  ];
  const lease = [{ apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "update"] }];
  const api = { apiVersion: "rbac.authorization.k8s.io/v1" };
  const subjects = [{ kind: "ServiceAccount", name: NAME, namespace: NAMESPACE }];
  const roleRef = (kind: string, name: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name });
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } },
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: NAME, namespace: NAMESPACE } },
    { ...api, kind: "ClusterRole", metadata: { name: NAME }, rules },
    { ...api, kind: "ClusterRoleBinding", metadata: { name: NAME }, roleRef: roleRef("ClusterRole", NAME), subjects },
    { ...api, kind: "Role", metadata: { name: `${NAME}-leader`, namespace: NAMESPACE }, rules: lease },
    {
      ...api,
      kind: "RoleBinding",
      metadata: { name: `${NAME}-leader`, namespace: NAMESPACE },
      roleRef: roleRef("Role", `${NAME}-leader`),
      subjects,
    },
  ];
}
