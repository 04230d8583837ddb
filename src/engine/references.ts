import type { Desired, Inputs, Reference } from "../kinds/kind.ts";
import { isForbidden, isNotFound } from "../kube/errors.ts";
import { type KubeObject, pathOf } from "../kube/resource.ts";
import type { KubeClient } from "../kube/transport.ts";
import type { Obstacle } from "./decision.ts";
import { claimOf, type Objects, objectKey } from "./objects.ts";
import { readStatus } from "./status.ts";

export type Resolved<T> = { value: T } | { obstacle: Obstacle };

/** The ids behind spec's references, all of the object's own namespace. */
export function resolveParents(
  objects: Objects,
  object: KubeObject,
  desired: Desired,
): Resolved<Record<string, string>> {
  const parents: Record<string, string> = {};
  for (const reference of desired.references) {
    const resolved = resolveParent(objects, object.metadata.namespace ?? "", reference);
    if ("obstacle" in resolved) return resolved;
    parents[reference.role] = resolved.value;
  }
  return { value: parents };
}

function resolveParent(objects: Objects, namespace: string, { kind, field, target }: Reference): Resolved<string> {
  if ("id" in target) return { value: target.id };
  const found = objects.find(objectKey(kind, namespace, target.name))?.object;
  const wait = (reason: "ReferenceNotFound" | "ReferenceNotReady", message: string): Resolved<string> => ({
    obstacle: { reason, message, stalled: false },
  });
  if (!found)
    return wait("ReferenceNotFound", `${field}: there is no ${kind} ${target.name} in namespace ${namespace}`);
  if (found.metadata.deletionTimestamp) {
    return wait("ReferenceNotReady", `${field}: ${kind} ${target.name} is being deleted`);
  }
  const claim = claimOf(found);
  // A parent must be fully provisioned before a child is created; one that is being changed will be so again.
  const ready = readStatus(found).conditions?.some(({ type, status }) => type === "Ready" && status === "True");
  if (!claim || !ready) return wait("ReferenceNotReady", `${field}: waiting for ${kind} ${target.name} to be Ready`);
  return { value: claim.id };
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
      return { obstacle: { reason: "SecretNotFound", message, stalled: false } };
    }
    values[field] = value;
  }
  return { value: values };
}

export const SECRETS = { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true };

async function readSecret(
  client: KubeClient,
  namespace: string,
  name: string,
  key: string,
): Promise<string | undefined> {
  try {
    const path = pathOf(SECRETS, { namespace, name });
    const secret = await client.request<{ data?: Record<string, string> }>({ method: "GET", path });
    return secretValue(secret, key);
  } catch (error) {
    if (isNotFound(error) || isForbidden(error)) return undefined;
    throw error;
  }
}

/** The decoded value of a key; undefined when there is none. */
export function secretValue(secret: object, key: string): string | undefined {
  const data: unknown = Reflect.get(secret, "data");
  if (typeof data !== "object" || data === null || !Object.hasOwn(data, key)) return undefined;
  const value: unknown = Reflect.get(data, key);
  return typeof value === "string" ? Buffer.from(value, "base64").toString("utf8") : undefined;
}
