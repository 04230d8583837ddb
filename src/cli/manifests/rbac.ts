import { accountKinds } from "../../engine/accounts/accounts.ts";
import { GROUP } from "../../kinds/index.ts";
import { hasResource, type Kind } from "../../kinds/kind.ts";
import { INSTALLATION, SHARED_NAMESPACE } from "../../operator/installation.ts";
import { leaseOf } from "../../operator/lease-name.ts";
import { SIGNING_KEY } from "../../operator/signing-key.ts";

const NAME = "mooring";
const DEFAULT_NAMESPACE = "mooring-system";

/** An installation of the operator. */
export interface Installation {
  /** The namespace of the operator, its ServiceAccount and its Lease. */
  namespace?: string;
  name?: string;
  account?: string;
  clusterName?: string;
  /** Namespaces to manage. If set, the operator has Roles there and no other rights. */
  watched?: readonly string[];
  /** The shards; each has its own Lease. */
  shards?: readonly string[];
  /**
   * Whether the operator may check access to its metrics (`--metrics-auth`). A Role cannot grant this, so the default
   * is true only without `watched`.
   */
  metricsAuth?: boolean;
}

export const namespaceOf = ({ namespace = DEFAULT_NAMESPACE }: Installation): string => namespace;
const accountOf = ({ account = NAME }: Installation): string => account;
/** Cluster-scoped objects of several installations must have different names. */
export const clusterNameOf = (installation: Installation): string => {
  const namespace = namespaceOf(installation);
  if (installation.clusterName !== undefined) return installation.clusterName;
  return namespace === DEFAULT_NAMESPACE ? NAME : `${NAME}-${namespace}`;
};
/** The Leases in the operator's namespace, including the marker of an installation that manages only this namespace. */
export const leasesOf = ({ shards = [] }: Installation): string[] => [leaseOf(), INSTALLATION, ...shards.map(leaseOf)];
export const usernameOf = (installation: Installation): string =>
  `system:serviceaccount:${namespaceOf(installation)}:${accountOf(installation)}`;

interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
  resourceNames?: string[];
}

/** The rights of the operator in each managed namespace: only those that the engine uses. */
function namespaceRules(kinds: readonly Kind[]): Rule[] {
  const of = (chosen: readonly Kind[], part = "") => chosen.map(({ plural }) => plural + part);
  const managed = kinds.filter(hasResource);
  const withFinalizer = kinds.filter((kind) => hasResource(kind) || accountKinds.includes(kind));
  return [
    { apiGroups: [GROUP], resources: of(kinds), verbs: ["list", "watch"] },
    { apiGroups: [GROUP], resources: of(withFinalizer), verbs: ["get", "patch"] },
    { apiGroups: [GROUP], resources: of(kinds, "/status"), verbs: ["patch"] },
    // Some API servers require this to set an owner reference with blockOwnerDeletion.
    { apiGroups: [GROUP], resources: of(managed, "/finalizers"), verbs: ["update"] },
    // Secrets: those with credentials and first-boot data are read by name; those with a label of Mooring are watched.
    // Credentials are patched with a label and a finalizer. Keys of the platform and outputs are written to Secrets
    // with an owner; outputs are deleted when spec drops them. ConfigMaps: the same for outputs; those with SSH keys
    // are read by name. The admission policies restrict all of this.
    { apiGroups: [""], resources: ["secrets"], verbs: ["get", "list", "watch", "create", "update", "patch", "delete"] },
    { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch", "create", "update", "delete"] },
    { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
  ];
}

/** RBAC cannot restrict a create to a name; the admission policy does. */
const byName = (group: string, plural: string, resourceNames: string[], verbs: string[]): Rule[] => [
  { apiGroups: [group], resources: [plural], resourceNames, verbs },
  { apiGroups: [group], resources: [plural], verbs: ["create"] },
];
const leases = { apiGroups: ["coordination.k8s.io"], resources: ["leases"] };
/** Leases are readable under any name, because a namespace label may name a shard without a Lease. */
const leaseRules = (installation: Installation): Rule[] => [
  { ...leases, resourceNames: leasesOf(installation), verbs: ["update"] },
  { ...leases, verbs: ["get", "create"] },
];
/**
 * The Lease that reveals a second installation. It is written in the managed namespaces or the shared one, and all
 * installations may read it.
 */
const markerRules: Rule[] = [
  { ...leases, resourceNames: [INSTALLATION], verbs: ["get", "update"] },
  { ...leases, verbs: ["create"] },
];
const markerReaderRules: Rule[] = [{ ...leases, resourceNames: [INSTALLATION], verbs: ["get"] }];
const signingKeyRules = byName("", "secrets", [SIGNING_KEY], ["get", "list", "watch"]);
/** Tokens of Accounts with a password: one Secret each. The names are not known in advance. */
const tokenRules: Rule[] = [{ apiGroups: [""], resources: ["secrets"], verbs: ["get", "list", "patch", "delete"] }];

/** For namespaces that are being deleted: nothing is created there. A Role cannot grant this. */
const clusterRules: Rule[] = [{ apiGroups: [""], resources: ["namespaces"], verbs: ["list", "watch"] }];

const reviewRules: Rule[] = [
  { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
  { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
];
/** For readers of the metrics, such as the ServiceAccount of Prometheus. It is not bound to anybody. */
const readerRules = [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }];

const api = { apiVersion: "rbac.authorization.k8s.io/v1" };
const roleRef = (kind: string, name: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name });

/** All ServiceAccounts: the operator of a single namespace may run as any of them. */
const everyOperator = [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "system:serviceaccounts" }];
const subjectsOf = (installation: Installation) => [
  { kind: "ServiceAccount", name: accountOf(installation), namespace: namespaceOf(installation) },
];
const clusterRole = (name: string, rules: object[]) => ({ ...api, kind: "ClusterRole", metadata: { name }, rules });
const boundRole = (name: string, rules: Rule[], installation: Installation) => [
  clusterRole(name, rules),
  {
    ...api,
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: roleRef("ClusterRole", name),
    subjects: subjectsOf(installation),
  },
];

/** The rights for `--metrics-auth`, and a role for readers of the metrics. */
export function metricsRights(installation: Installation = {}): object[] {
  const name = clusterNameOf(installation);
  return [
    ...boundRole(`${name}-metrics-auth`, reviewRules, installation),
    clusterRole(`${name}-metrics-reader`, readerRules),
  ];
}

export function operatorRights(kinds: readonly Kind[], installation: Installation = {}): object[] {
  const namespace = namespaceOf(installation);
  const { watched, metricsAuth = watched === undefined, name = NAME } = installation;
  const subjects = subjectsOf(installation);
  const role = (name: string, where: string, rules: Rule[], boundTo: object[] = subjects) => {
    const metadata = { name, namespace: where };
    const binding = { ...api, kind: "RoleBinding", metadata, roleRef: roleRef("Role", name), subjects: boundTo };
    return [{ ...api, kind: "Role", metadata, rules }, binding];
  };
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: accountOf(installation), namespace } },
    ...(watched
      ? watched.flatMap((each) => role(name, each, [...namespaceRules(kinds), ...markerRules]))
      : [
          ...boundRole(clusterNameOf(installation), [...namespaceRules(kinds), ...clusterRules], installation),
          ...role(`${clusterNameOf(installation)}-installation`, SHARED_NAMESPACE, markerRules),
          ...role(
            `${clusterNameOf(installation)}-installation-reader`,
            SHARED_NAMESPACE,
            markerReaderRules,
            everyOperator,
          ),
        ]),
    ...role(`${name}-leader`, namespace, [
      ...leaseRules(installation),
      ...(watched ? [...signingKeyRules, ...tokenRules] : []),
    ]),
    ...(metricsAuth ? metricsRights(installation) : []),
  ];
}

/**
 * Rights of users on Mooring's objects, aggregated to the roles view, edit and admin. Only the operator writes status
 * and finalizers. Accounts, Grants and InferenceAccesses are for administrators of a namespace: an Account decides
 * which Secret is sent to which endpoint, a Grant who may use objects of the namespace, an InferenceAccess what calls
 * may cost.
 */
export function tenantRoles(kinds: readonly Kind[]): object[] {
  const writing = ["create", "update", "patch", "delete", "deletecollection"];
  const resourcesOf = ({ plural, scale }: Kind) => [plural, ...(scale ? [`${plural}/scale`] : [])];
  const namespaced = kinds.filter(({ scope }) => scope !== "Cluster").flatMap(resourcesOf);
  const edited = kinds.filter(({ governs }) => !governs).flatMap(resourcesOf);
  const role = (name: string, resources: string[], verbs: string[]) => ({
    ...api,
    kind: "ClusterRole",
    metadata: { name: `${NAME}-${name}`, labels: { [`rbac.authorization.k8s.io/aggregate-to-${name}`]: "true" } },
    rules: [{ apiGroups: [GROUP], resources, verbs }],
  });
  const all = kinds.flatMap(resourcesOf);
  return [
    role("view", all, ["get", "list", "watch"]),
    role("edit", edited, writing),
    role("admin", namespaced, writing),
  ];
}
