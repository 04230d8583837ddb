import { GROUP } from "../../kinds/index.ts";
import type { Kind } from "../../kinds/kind.ts";

/** The namespace of a tool server, its ServiceAccount, and the name of its cluster-scoped objects. */
export interface ToolsInstallation {
  namespace: string;
  account: string;
  name: string;
}

const api = { apiVersion: "rbac.authorization.k8s.io/v1" };
const reading = ["get", "list", "watch"];

/** The tools read Mooring's objects and Events, no Secrets, and write nothing. */
export function toolsRights(kinds: readonly Kind[], { namespace, account, name }: ToolsInstallation): object[] {
  return [
    {
      ...api,
      kind: "ClusterRole",
      metadata: { name },
      rules: [
        { apiGroups: [GROUP], resources: kinds.map(({ plural }) => plural), verbs: reading },
        { apiGroups: [""], resources: ["events"], verbs: reading },
      ],
    },
    {
      ...api,
      kind: "ClusterRoleBinding",
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
      subjects: [{ kind: "ServiceAccount", name: account, namespace }],
    },
  ];
}
