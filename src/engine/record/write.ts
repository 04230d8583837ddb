import { bounded } from "../../kinds/fields/bounded.ts";
import type { Kind } from "../../kinds/kind.ts";
import { apply } from "../../kube/apply.ts";
import { isConflict, isNotFound } from "../../kube/errors.ts";
import { type KubeObject, pathOf } from "../../kube/resource.ts";
import type { Deps } from "../look/deps.ts";
import { EXTERNAL_ID, FINALIZER, INTENT } from "../objects/names.ts";
import { resourceOf } from "../objects/objects.ts";
import { differs } from "../schema/status.ts";

/** The parts of an object that every server-side apply needs to hit this very object and no successor of its name. */
function target({ apiVersion, kind, metadata }: KubeObject): KubeObject {
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

/**
 * Writes what Mooring owns of metadata: the finalizer and these annotations; others that it owned before go. Fails with
 * a conflict when the object has changed since `object` was read.
 */
export async function writeMetadata(
  deps: Deps,
  kind: Kind,
  object: KubeObject,
  annotations: Record<string, string>,
): Promise<KubeObject> {
  const wanted = target(object);
  wanted.metadata = { ...wanted.metadata, finalizers: [FINALIZER], annotations };
  const written = await apply<KubeObject>(deps.client, resourceOf(kind), wanted);
  const surplus = [INTENT, EXTERNAL_ID].filter(
    (name) => !(name in annotations) && written.metadata.annotations?.[name],
  );
  // What came with the object itself, out of a backup for example, apply leaves alone: its creator owns it as well.
  return keep(deps, kind, surplus.length > 0 ? await erase(deps, kind, written, surplus) : written);
}

/** Takes annotations, and on request the finalizer, away, whoever owns them. */
async function erase(
  deps: Deps,
  kind: Kind,
  { metadata }: KubeObject,
  annotations: string[],
  finalizers?: string[],
): Promise<KubeObject> {
  const { name, namespace, uid, resourceVersion } = metadata;
  const gone = Object.fromEntries(annotations.map((annotation) => [annotation, null]));
  return deps.client.request<KubeObject>({
    method: "PATCH",
    path: pathOf(resourceOf(kind), { name, ...(namespace !== undefined && { namespace }) }),
    contentType: "application/merge-patch+json",
    body: { metadata: { uid, resourceVersion, annotations: gone, ...(finalizers && { finalizers }) } },
  });
}

/** Lets the object go: the finalizer and every annotation of ours are taken away. One that is gone already is fine. */
export async function release(deps: Deps, kind: Kind, object: KubeObject): Promise<void> {
  try {
    const others = object.metadata.finalizers?.filter((name) => name !== FINALIZER) ?? [];
    // Read at once: the next pass must not let go of it again before the watch tells that it is gone.
    keep(deps, kind, await erase(deps, kind, object, [INTENT, EXTERNAL_ID], others));
  } catch (error) {
    if (isNotFound(error)) return;
    if (!isConflict(error) || (await fetchObject(deps, kind, object))) throw error;
  }
}

/** Writes the whole status, when that would change anything. Same precondition as `writeMetadata`. */
export async function writeStatus(deps: Deps, kind: Kind, object: KubeObject, told: object): Promise<KubeObject> {
  const status = Object(bounded(told));
  if (!differs(object, status)) return object;
  const wanted = { ...target(object), status: JSON.parse(JSON.stringify(status)) };
  return keep(deps, kind, await apply(deps.client, resourceOf(kind), wanted, { subresource: "status" }));
}

/** The object as the API server has it now; undefined when it, the very same one, is gone. */
export async function fetchObject(deps: Deps, kind: Kind, object: KubeObject): Promise<KubeObject | undefined> {
  const { namespace, name, uid } = object.metadata;
  const path = pathOf(resourceOf(kind), { name, ...(namespace !== undefined && { namespace }) });
  try {
    const fresh = await deps.client.request<KubeObject>({ method: "GET", path });
    return fresh.metadata.uid === uid ? keep(deps, kind, fresh) : undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Own writes are read at once: the next decision must not rest on what was before. */
function keep(deps: Deps, kind: Kind, object: KubeObject): KubeObject {
  deps.objects.store(kind.kind).put(object);
  return object;
}
