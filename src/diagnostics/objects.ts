import { annotationsOf, isPaused as hasPause } from "../engine/state/annotations.ts";
import { PAUSED } from "../engine/state/names.ts";
import { keyTo, type ObjectKey, resourceOf } from "../engine/state/object.ts";
import { type Reason, reasons } from "../engine/status/reasons.ts";
import { readStatus } from "../engine/status/status.ts";
import { GROUP, kinds } from "../kinds/index.ts";
import type { Kind } from "../kinds/kind.ts";
import { isForbidden } from "../kube/client/errors.ts";
import type { KubeObject } from "../kube/resource.ts";
import type { ClusterReader } from "./cluster.ts";
import type { Sources } from "./sources.ts";

/** An object of Mooring with its kind and its key. */
export interface MooringObject {
  kind: Kind;
  key: ObjectKey;
  object: KubeObject;
}

export function kindOf(text: string): Kind {
  const wanted = text.toLowerCase();
  const found = kinds.find(
    ({ kind, plural, shortNames }) =>
      kind.toLowerCase() === wanted || plural === wanted || shortNames.some((short) => short === wanted),
  );
  if (found) return found;
  throw new Error(`there is no kind "${text}"; valid: ${kinds.map(({ kind }) => kind).join(", ")}`);
}

export const mooringObject = (kind: Kind, object: KubeObject): MooringObject => ({
  kind,
  key: keyTo(kind, object),
  object,
});

/** The name of an object in a question. */
export interface ObjectAsked {
  kind: string;
  name: string;
  namespace?: string | undefined;
}

export async function findObject(
  cluster: ClusterReader,
  asked: ObjectAsked,
  signal: AbortSignal,
): Promise<MooringObject | undefined> {
  const kind = kindOf(asked.kind);
  const namespace = kind.scope === "Cluster" ? undefined : (asked.namespace ?? cluster.namespace);
  const object = await cluster.find(resourceOf(kind), namespace, asked.name, signal);
  return object && mooringObject(kind, object);
}

/** One object; throws an error that says how to find it. */
export async function objectNamed(
  cluster: ClusterReader,
  asked: ObjectAsked,
  signal: AbortSignal,
): Promise<MooringObject> {
  const found = await findObject(cluster, asked, signal);
  if (found) return found;
  const where = `${kindOf(asked.kind).kind} ${asked.name} (namespace ${asked.namespace ?? cluster.namespace})`;
  throw new Error(`there is no ${where}; "mooring get" shows what there is`);
}

/**
 * All objects of some kinds: of one namespace, or of all namespaces, or of the caller's own namespace if RBAC does not
 * allow more. Reports to `missing` what the caller may not list; without `missing` it throws.
 */
export async function allObjects(
  { cluster: open, signal, progress, missing }: Sources,
  namespace: string | undefined,
  of: readonly Kind[] = kinds,
  labelSelector?: string,
): Promise<Map<ObjectKey, MooringObject>> {
  const cluster = await open();
  const all = new Map<ObjectKey, MooringObject>();
  for (const kind of of) {
    const isNamespaced = kind.scope !== "Cluster";
    if (!isNamespaced && namespace !== undefined) continue;
    const list = (where: string | undefined) =>
      cluster.list(resourceOf(kind), { namespace: where, labelSelector }, signal);
    /** Reports the refusal and returns no objects; without `missing` it throws. */
    const nothing = (where: string) => (error: unknown) => {
      if (!missing || !isForbidden(error)) throw error;
      missing(`${kind.plural} ${where}: you may not list them`);
      return [];
    };
    const objects = await list(isNamespaced ? namespace : undefined).catch((error: unknown) => {
      if (!isForbidden(error)) throw error;
      if (namespace !== undefined) return nothing(`of namespace ${namespace}`)(error);
      missing?.(
        `${kind.plural} of ${isNamespaced ? `namespaces other than ${cluster.namespace}` : "the cluster"}: you may not list them`,
      );
      return isNamespaced ? list(cluster.namespace).catch(nothing(`of namespace ${cluster.namespace}`)) : [];
    });
    for (const object of objects) {
      // The items of a list do not have these fields.
      const each = mooringObject(kind, { ...object, apiVersion: `${GROUP}/v1alpha1`, kind: kind.kind });
      all.set(each.key, each);
    }
    progress(all.size, "objects read");
  }
  return all;
}

/** Whether an object is paused. The annotation has no effect on kinds that use no Account. */
export const isPaused = ({ kind, object }: Pick<MooringObject, "kind" | "object">): boolean =>
  annotationsOf(kind).includes(PAUSED) && hasPause(object);

export const readyOf = (object: KubeObject) => readStatus(object).conditions?.find(({ type }) => type === "Ready");
export const isReady = (object: KubeObject): boolean => readyOf(object)?.status === "True";

const POLICIES = ["deletionPolicy", "replacePolicy", "recreatePolicy", "externalId", "accountRef"];

/** The way out for a reason, without advice about fields that the kind does not have. */
export function adviceFor(reason: string, kind?: Kind): string {
  const text = Object.hasOwn(reasons, reason) ? reasons[reason as Reason] : "";
  const absent = kind ? POLICIES.filter((field) => !Object.hasOwn(kind.spec.shape, field)) : [];
  const clauses = text.split(/(?<=[.;]) /).filter((clause) => !absent.some((field) => clause.includes(field)));
  return clauses.join(" ").replace(/;$/, ".") || "The message says more.";
}

/** The short form of an object. */
export function summaryOf({ kind, object }: MooringObject) {
  const { name, namespace, creationTimestamp, deletionTimestamp } = object.metadata;
  const { id, state } = readStatus(object);
  const ready = readyOf(object);
  return {
    kind: kind.kind,
    ...(namespace !== undefined && { namespace }),
    name,
    ready: ready?.status === "True",
    reason: ready?.reason ?? "Pending",
    message: ready?.message ?? adviceFor("Pending"),
    ...(id !== undefined && { id }),
    ...(state !== undefined && { state }),
    created: creationTimestamp,
    ...(deletionTimestamp !== undefined && { deleting_since: deletionTimestamp }),
  };
}
