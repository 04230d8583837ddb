import { KubeError } from "../client/errors.ts";
import type { KubeClient } from "../client/transport.ts";
import { type KubeObject, pathOf, type Resource, withoutManagedFields } from "../resource.ts";

export const FIELD_MANAGER = "mooring";

export interface ApplyOptions {
  subresource?: "status";
  fieldManager?: string;
  /** Take over fields other managers own. Default true: a controller has nobody to ask. */
  force?: boolean;
  signal?: AbortSignal;
}

/**
 * Server-side apply: the fields in `object`, and only those, are this field manager's from now on.
 *
 * Preconditions travel in the object itself, and `isConflict` knows when they fail. With `metadata.uid` nothing happens
 * unless the object with that uid is there: one that was deleted is not created again. With `metadata.resourceVersion`
 * nothing happens when somebody wrote meanwhile. A resourceVersion without a uid protects from nothing: it creates the
 * object again when it is missing. For the status of custom resources it is the other way round: the apiserver ignores
 * the uid there, so that only a resourceVersion keeps the write from a new object of the same name. Without one such a
 * write is reported as a conflict, but only afterwards.
 */
export async function apply<T extends KubeObject>(
  client: KubeClient,
  resource: Resource,
  object: KubeObject,
  options: ApplyOptions = {},
): Promise<T> {
  const { namespace, name, uid } = object.metadata;
  const path = pathOf(resource, { namespace, name, subresource: options.subresource });
  const answer = await client.request<T>({
    method: "PATCH",
    path,
    query: { fieldManager: options.fieldManager ?? FIELD_MANAGER, force: String(options.force ?? true) },
    contentType: "application/apply-patch+yaml",
    body: withoutManagedFields(object),
    ...(options.signal && { signal: options.signal }),
  });
  if (uid !== undefined && answer.metadata.uid !== uid) {
    throw new KubeError({
      status: 409,
      reason: "Conflict",
      message: `PATCH ${path}: reached another object than ${uid}`,
    });
  }
  return withoutManagedFields(answer);
}

/** The parts of an object that every server-side apply needs to hit this very object and no successor of its name. */
export function target({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
  };
}

/** Changes an object, or its status: a list is a JSON patch, anything else is merged. */
export function patch(
  client: KubeClient,
  resource: Resource,
  { name, namespace }: KubeObject["metadata"],
  change: object,
  subresource?: string,
): Promise<KubeObject> {
  const contentType = Array.isArray(change) ? "application/json-patch+json" : "application/merge-patch+json";
  const path = pathOf(resource, { name, namespace, subresource });
  return client.request<KubeObject>({ method: "PATCH", path, contentType, body: change });
}
