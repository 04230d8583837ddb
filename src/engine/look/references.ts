import type { Desired, Inputs, Reference, Referent } from "../../kinds/kind.ts";
import { isForbidden } from "../../kube/errors.ts";
import { fetchObject } from "../../kube/followed.ts";
import { SECRETS, secretValue } from "../../kube/owned-secret.ts";
import type { KubeObject } from "../../kube/resource.ts";
import type { KubeClient } from "../../kube/transport.ts";
import { claimOf, isPaused, type Objects, objectKey } from "../objects/objects.ts";
import type { Obstacle } from "../schema/reasons.ts";
import { readStatus, readWhole } from "../schema/status.ts";

export type Resolved<T> = { value: T } | { obstacle: Obstacle };

/** What spec's references lead to. */
export interface References {
  /** Ids of what the resource lives under, by role. */
  parents: Readonly<Record<string, string>>;
  refs: Inputs["refs"];
}

/**
 * Follows spec's references, all of the object's own namespace. `kept` are the parents of a resource that exists or is
 * being made: it does not move, and needs no more than what it uses.
 */
export function resolveReferences(
  objects: Objects,
  object: KubeObject,
  { references }: Desired,
  kept?: Readonly<Record<string, string>>,
): Resolved<References> {
  const parents: Record<string, string> = { ...kept };
  const refs: Record<string, Referent> = {};
  for (const reference of references) {
    const { bond = "place", role } = reference;
    const needed = kept === undefined || bond === "use";
    const resolved = resolve(objects, object.metadata.namespace ?? "", reference, kept === undefined);
    if ("value" in resolved) refs[role] = resolved.value;
    else if (needed) return resolved;
    if (bond === "place" && kept === undefined && "value" in resolved) parents[role] = resolved.value.id;
  }
  return { value: { parents, refs } };
}

function resolve(
  objects: Objects,
  namespace: string,
  { kind, field, target, part }: Reference,
  whenReady: boolean,
): Resolved<Referent> {
  if ("id" in target) return { value: { id: target.id, status: statusBehind(objects, namespace, kind, target.id) } };
  const found = objects.find(objectKey(kind, namespace, target.name))?.object;
  const wait = (reason: "ReferenceNotFound" | "ReferenceNotReady", message: string): Resolved<Referent> => ({
    obstacle: { reason, message: `${field}: ${message}` },
  });
  if (!found) return wait("ReferenceNotFound", `there is no ${kind} ${target.name} in namespace ${namespace}`);
  if (whenReady && found.metadata.deletionTimestamp) {
    return wait("ReferenceNotReady", `${kind} ${target.name} is being deleted`);
  }
  const claim = claimOf(found);
  // A parent must be fully provisioned before a child is created; one that is being changed will be so again.
  const ready = readStatus(found).conditions?.some(({ type, status }) => type === "Ready" && status === "True");
  if (!claim || (whenReady && !ready)) {
    const why = isPaused(found) ? "which is paused: remove its annotation mooring.dev/paused" : "to be Ready";
    return wait("ReferenceNotReady", `waiting for ${kind} ${target.name}${isPaused(found) ? "," : ""} ${why}`);
  }
  const status = readWhole(found);
  const id = part ? part.of(status) : claim.id;
  if (id === undefined) return wait("ReferenceNotReady", `${kind} ${target.name} has no ${part?.what}`);
  return { value: { id, status } };
}

/** What an object of the namespace knows of a resource that is named by its id. */
function statusBehind(objects: Objects, namespace: string, kind: string, id: string): Referent["status"] {
  const holder = objects.holders(namespace, id).find((key) => key.startsWith(`${kind}/`));
  const object = holder === undefined ? undefined : objects.find(holder)?.object;
  return object ? readWhole(object) : {};
}

/** The values behind spec's Secrets. Read when they are needed and kept nowhere. */
export async function readSecrets(
  client: KubeClient,
  object: KubeObject,
  desired: Desired,
): Promise<Resolved<Inputs["secrets"]>> {
  const namespace = object.metadata.namespace ?? "";
  const values: Record<string, string> = {};
  for (const { field, name, key } of desired.secrets) {
    const value = await readSecret(client, namespace, name, key);
    if (value === undefined) {
      const message = `${field}: Secret ${name} in namespace ${namespace} does not exist or has no key ${key}`;
      return { obstacle: { reason: "SecretNotFound", message } };
    }
    values[field] = value;
  }
  return { value: values };
}

async function readSecret(
  client: KubeClient,
  namespace: string,
  name: string,
  key: string,
): Promise<string | undefined> {
  try {
    const secret = await fetchObject(client, SECRETS, { namespace, name });
    return secret && secretValue(secret, key);
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}
