/** A resource type of the API server. `group` is "" for the core group. */
export interface Resource {
  group: string;
  version: string;
  kind: string;
  plural: string;
  namespaced: boolean;
}

const core = { group: "", version: "v1", namespaced: true };
export const NAMESPACES = { ...core, kind: "Namespace", plural: "namespaces", namespaced: false };
export const EVENTS = { ...core, kind: "Event", plural: "events" };
export const SECRETS = { ...core, kind: "Secret", plural: "secrets" } as const;
export const CONFIG_MAPS = { ...core, kind: "ConfigMap", plural: "configmaps" } as const;

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  finalizers?: string[];
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
}

export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec?: unknown;
  status?: unknown;
  [field: string]: unknown;
}

/** `group/version`, or just `version` for the core group. */
export function apiVersionOf(resource: Resource): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

/** RFC 1123, as the schemas check references. */
const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;
/** Roles and their bindings may have any name that is one segment of a path. */
const ROLE = /^(?!\.{1,2}$)[^/%]+$/;

function badName(what: "name" | "namespace", value: string, pattern: RegExp): string | undefined {
  if (pattern.test(value)) return undefined;
  const shown = JSON.stringify(value.slice(0, 80));
  const rest = what === "name" ? ", '-' and '.', at most 253" : " and '-', at most 63";
  return `${shown} is not a valid ${what} in Kubernetes: use lower-case letters, digits${rest} characters`;
}

function checkName(what: "name" | "namespace", value: string, pattern: RegExp): string {
  const problem = badName(what, value, pattern);
  if (problem !== undefined) throw new Error(problem);
  return value;
}

/** Why the API server refuses the name or the namespace of an object. */
export const nameProblem = ({ name, namespace }: Pick<ObjectMeta, "name" | "namespace">): string | undefined =>
  badName("name", name, NAME) ?? (namespace === undefined ? undefined : badName("namespace", namespace, NAMESPACE));

/**
 * The URL path of a collection or, with a name, of one object. Without a namespace, a namespaced resource means all namespaces.
 * Throws if a name is not valid: `..` would lead to another path.
 */
export function pathOf(
  resource: Resource,
  where: { namespace?: string | undefined; name?: string | undefined; subresource?: string | undefined } = {},
): string {
  const root = resource.group === "" ? "/api" : "/apis";
  const { namespace, name, subresource } = where;
  const pattern = resource.group === "rbac.authorization.k8s.io" ? ROLE : NAME;
  const scope = resource.namespaced && namespace ? ["namespaces", checkName("namespace", namespace, NAMESPACE)] : [];
  const object = name === undefined ? [] : [checkName("name", name, pattern), ...(subresource ? [subresource] : [])];
  return [root, apiVersionOf(resource), ...[...scope, resource.plural, ...object].map(encodeURIComponent)].join("/");
}

/** `namespace/name`, or just `name` for cluster-scoped objects: unique within one resource. */
export function keyOf(object: { metadata: { namespace?: string; name: string } }): string {
  const { namespace, name } = object.metadata;
  return namespace ? `${namespace}/${name}` : name;
}

/** The object without `metadata.managedFields`, which can be larger than the rest and is not used here. */
export function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (object.metadata === undefined || !("managedFields" in object.metadata)) return object;
  // A copy, because `delete` would turn the object into a slow dictionary.
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** The annotation in which kubectl keeps a copy of the applied object. */
export const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
