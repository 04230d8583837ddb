import { accountKinds } from "../../engine/accounts/accounts.ts";
import { GROUP } from "../../kinds/index.ts";
import { hasResource, type Kind } from "../../kinds/kind.ts";
import { INSTALLATION, SHARED_NAMESPACE } from "../../operator/installation.ts";
import { leaseOf } from "../../operator/lease-name.ts";
import { SIGNING_KEY } from "../../operator/signing-key.ts";

const NAME = "mooring";
const DEFAULT_NAMESPACE = "mooring-system";

/** Where an operator runs, and for whom. */
export interface Installation {
  /** The operator's own namespace, with its ServiceAccount and its Lease. */
  namespace?: string;
  /** The name of its Roles. */
  name?: string;
  /** The name of its ServiceAccount. */
  account?: string;
  /** The name of its cluster-scoped objects. */
  clusterName?: string;
  /** The only namespaces whose objects it manages: it then has Roles there and no right anywhere else. */
  watched?: readonly string[];
  /** Its shards, each with a Lease of its own. */
  shards?: readonly string[];
  /** Whether it may ask who may read its metrics (`--metrics-auth`). A Role cannot give this: by default only without `watched`. */
  metricsAuth?: boolean;
}

export const namespaceOf = ({ namespace = DEFAULT_NAMESPACE }: Installation): string => namespace;
const accountOf = ({ account = NAME }: Installation): string => account;
/** Cluster-scoped objects of several installations must not have the same name. */
export const clusterNameOf = (installation: Installation): string => {
  const namespace = namespaceOf(installation);
  if (installation.clusterName !== undefined) return installation.clusterName;
  return namespace === DEFAULT_NAMESPACE ? NAME : `${NAME}-${namespace}`;
};
/** The Leases of the operator, in its own namespace: also the one of an installation that works on this namespace alone. */
export const leasesOf = ({ shards = [] }: Installation): string[] => [leaseOf(), INSTALLATION, ...shards.map(leaseOf)];
export const usernameOf = (installation: Installation): string =>
  `system:serviceaccount:${namespaceOf(installation)}:${accountOf(installation)}`;

interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
  resourceNames?: string[];
}

/** What the operator does in each namespace that it manages: as much as the engine uses, and no more. */
function namespaceRules(kinds: readonly Kind[]): Rule[] {
  const of = (chosen: readonly Kind[], part = "") => chosen.map(({ plural }) => plural + part);
  const managed = kinds.filter(hasResource);
  const withFinalizer = kinds.filter((kind) => hasResource(kind) || accountKinds.includes(kind));
  return [
    { apiGroups: [GROUP], resources: of(kinds), verbs: ["list", "watch"] },
    { apiGroups: [GROUP], resources: of(withFinalizer), verbs: ["get", "patch"] },
    { apiGroups: [GROUP], resources: of(kinds, "/status"), verbs: ["patch"] },
    // An API server may ask for it from whoever makes an object the owner of a Secret.
    { apiGroups: [GROUP], resources: of(managed, "/finalizers"), verbs: ["update"] },
    // Credentials and first-boot configuration are read by their names; those with a label of Mooring are watched. Label and
    // finalizer on credentials are a patch. Keys of the platform are written into Secrets that belong to their object; what
    // spec.output asks for as well, or into ConfigMaps, and deleted when it asks no more. The admission policy bounds all this.
    // ConfigMaps with public keys for a machine are read by the name that spec gives.
    { apiGroups: [""], resources: ["secrets"], verbs: ["get", "list", "watch", "create", "update", "patch", "delete"] },
    { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch", "create", "update", "delete"] },
    { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
  ];
}

/** RBAC cannot limit a creation to a name; the admission policy does. */
const byName = (group: string, plural: string, resourceNames: string[], verbs: string[]): Rule[] => [
  { apiGroups: [group], resources: [plural], resourceNames, verbs },
  { apiGroups: [group], resources: [plural], verbs: ["create"] },
];
/** Leases are read by any name: that of a shard which a label of a namespace names may not be there. */
const leaseRules = (installation: Installation): Rule[] => [
  { ...leases, resourceNames: leasesOf(installation), verbs: ["update"] },
  { ...leases, verbs: ["get", "create"] },
];
/** The Lease by which a second installation is noticed: written where the installation works, and readable for all of them. */
const markerRules: Rule[] = [
  {
    apiGroups: ["coordination.k8s.io"],
    resources: ["leases"],
    resourceNames: [INSTALLATION],
    verbs: ["get", "update"],
  },
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"] },
];
const leases = { apiGroups: ["coordination.k8s.io"], resources: ["leases"] };
const signingKeyRules = byName("", "secrets", [SIGNING_KEY], ["get", "list", "watch"]);
/** The tokens of Accounts with a password: one Secret for each, whose name only the operator knows. */
const tokenRules: Rule[] = [{ apiGroups: [""], resources: ["secrets"], verbs: ["get", "list", "patch", "delete"] }];

/** Whether one is being deleted: nothing is made in it then. A Role cannot give this. */
const clusterRules: Rule[] = [{ apiGroups: [""], resources: ["namespaces"], verbs: ["list", "watch"] }];

/** What `--metrics-auth` asks the API server. */
const reviewRules: Rule[] = [
  { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
  { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
];
/** For whoever is to read the metrics, such as the ServiceAccount of Prometheus: bound to nobody. */
const readerRules = [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }];

const api = { apiVersion: "rbac.authorization.k8s.io/v1" };
const roleRef = (kind: string, name: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name });

/** An operator of one namespace may be any ServiceAccount. */
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

/** What `--metrics-auth` needs, and a role for whoever reads the metrics. */
export function metricsRights(installation: Installation = {}): object[] {
  const name = clusterNameOf(installation);
  return [
    ...boundRole(`${name}-metrics-auth`, reviewRules, installation),
    clusterRole(`${name}-metrics-reader`, readerRules),
  ];
}

/** The ServiceAccount of the operator and all of its rights. */
export function operatorRights(kinds: readonly Kind[], installation: Installation = {}): object[] {
  const namespace = namespaceOf(installation);
  const { watched, metricsAuth = watched === undefined, name = NAME } = installation;
  const subjects = subjectsOf(installation);
  const role = (name: string, where: string, rules: Rule[], whom: object[] = subjects) => {
    const metadata = { name, namespace: where };
    const binding = { ...api, kind: "RoleBinding", metadata, roleRef: roleRef("Role", name), subjects: whom };
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
            markerRules.slice(0, 1).map((rule) => ({ ...rule, verbs: ["get"] })),
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
 * What people may do with Mooring's objects, added to the roles view, edit and admin that every cluster has. Nobody writes
 * status or finalizers but the operator. An Account decides which Secret is sent to which endpoint, a Grant who else uses what a
 * namespace has, and an InferenceAccess what it may cost, so that it takes the administrator of a namespace to write one.
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
