import { type KubeObject, pathOf, type Resource, withoutManagedFields } from "./resource.ts";
import type { KubeClient } from "./transport.ts";

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
 * Preconditions travel in the object itself. With `metadata.uid` the apiserver answers 409 when no object with that
 * uid exists, so a deleted object is not created again; with `metadata.resourceVersion` it answers 409 when somebody
 * wrote meanwhile. Without a uid, applying the main resource creates what is missing.
 */
export async function apply<T extends KubeObject>(
  client: KubeClient,
  resource: Resource,
  object: KubeObject,
  options: ApplyOptions = {},
): Promise<T> {
  const { namespace, name } = object.metadata;
  const answer = await client.request<T>({
    method: "PATCH",
    path: pathOf(resource, { namespace, name, subresource: options.subresource }),
    query: { fieldManager: options.fieldManager ?? FIELD_MANAGER, force: String(options.force ?? true) },
    contentType: "application/apply-patch+yaml",
    body: withoutManagedFields(object),
    ...(options.signal && { signal: options.signal }),
  });
  return withoutManagedFields(answer);
}
