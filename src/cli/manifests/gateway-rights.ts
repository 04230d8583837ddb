import { GROUP } from "../../kinds/index.ts";
import { SPENDING_NAMES } from "../../kinds/inference/spending.ts";

/** The namespace of a gateway, its ServiceAccount, and the name of its cluster-scoped objects. */
export interface GatewayInstallation {
  namespace: string;
  account: string;
  name: string;
}

const api = { apiVersion: "rbac.authorization.k8s.io/v1" };

/** The gateway reads accesses and no Secrets. It writes its spending records, only in its own namespace. */
export function gatewayRights({ namespace, account, name }: GatewayInstallation): object[] {
  const subjects = [{ kind: "ServiceAccount", name: account, namespace }];
  const roleRef = (kind: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name });
  const reading = ["list", "watch"];
  return [
    {
      ...api,
      kind: "ClusterRole",
      metadata: { name },
      rules: [
        { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
        // For --metrics-auth.
        { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
        { apiGroups: [GROUP], resources: ["inferenceaccesses", "clusteraccounts"], verbs: reading },
        { apiGroups: [""], resources: ["namespaces"], verbs: reading },
      ],
    },
    { ...api, kind: "ClusterRoleBinding", metadata: { name }, roleRef: roleRef("ClusterRole"), subjects },
    {
      ...api,
      kind: "Role",
      metadata: { name, namespace },
      rules: [
        { apiGroups: [""], resources: ["configmaps"], resourceNames: SPENDING_NAMES, verbs: ["get", "update"] },
        // RBAC cannot restrict a create to a name; the admission policy does.
        { apiGroups: [""], resources: ["configmaps"], verbs: ["create"] },
      ],
    },
    { ...api, kind: "RoleBinding", metadata: { name, namespace }, roleRef: roleRef("Role"), subjects },
  ];
}
