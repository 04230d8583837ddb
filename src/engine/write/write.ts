import { bounded } from "../../kinds/fields/bounded.ts";
import { GROUP } from "../../kinds/index.ts";
import { type Kind, usesAccount } from "../../kinds/kind.ts";
import { isConflict, isNotFound } from "../../kube/client/errors.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { fetchObject as fetchNamed } from "../../kube/watch/followed.ts";
import { hasMoreFinalizers } from "../../kube/watch/reduced.ts";
import { apply, patch, replaceStatus, target } from "../../kube/write/apply.ts";
import type { Deps } from "../observe/deps.ts";
import type { Claim, Intent } from "../state/intent.ts";
import { EXTERNAL_ID, FINALIZER, INTENT } from "../state/names.ts";
import { objectKey, resourceOf } from "../state/object.ts";
import { placed } from "../status/schema.ts";
import { differs, hasOtherConditions, readStatus, readyOf } from "../status/status.ts";
import { GROUPS, trust, unknownKey } from "../status/trust.ts";
import { tellAdvice, withAnnotationAdvice } from "./advice.ts";

/**
 * Writes what Mooring owns of metadata: the finalizer, and what it keeps in annotations; what it kept there before goes.
 * Fails with a conflict when the object has changed since `object` was read.
 */
export async function writeMetadata(
  deps: Deps,
  kind: Kind,
  object: KubeObject,
  { intent, claim }: { intent?: Intent | undefined; claim?: Partial<Claim> } = {},
): Promise<KubeObject> {
  const mark = (annotation: string, words: object | undefined) =>
    words && { [annotation]: deps.seal.mark(kind.kind, object, annotation, words) };
  const annotations = { ...mark(INTENT, intent), ...mark(EXTERNAL_ID, claim) };
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
  const { uid, resourceVersion } = metadata;
  const gone = Object.fromEntries(annotations.map((annotation) => [annotation, null]));
  const change = { metadata: { uid, resourceVersion, annotations: gone, ...(finalizers && { finalizers }) } };
  return patch(deps.client, resourceOf(kind), metadata, change);
}

/** Lets the object go: the finalizer and every annotation of ours are taken away. One that is gone already is fine. */
export async function release(deps: Deps, kind: Kind, object: KubeObject): Promise<void> {
  // Read at once: the next pass must not let go of it again before the watch tells that it is gone.
  const gone = (last: KubeObject) => deps.objects.store(kind.kind).remove(last);
  try {
    // Who has very many is read as a whole.
    const whole = hasMoreFinalizers(object) ? await fetchNamed(deps.client, resourceOf(kind), object.metadata) : object;
    const others = whole?.metadata.finalizers?.filter((name) => name !== FINALIZER) ?? [];
    const left = await erase(deps, kind, object, [INTENT, EXTERNAL_ID], others);
    // The answer to the end of an object has the version from before.
    if (left.metadata.deletionTimestamp && !left.metadata.finalizers?.length) gone(left);
    else keep(deps, kind, left);
  } catch (error) {
    if (!isNotFound(error) && (!isConflict(error) || (await fetchObject(deps, kind, object)))) throw error;
    gone(object);
  }
}

/** Writes the whole status, when that would change anything. Same precondition as `writeMetadata`. */
export async function writeStatus(deps: Deps, kind: Kind, object: KubeObject, told: object): Promise<KubeObject> {
  const written = await write(deps, kind, object, withAnnotationAdvice(kind, object, told));
  tellAdvice(deps, object, written);
  const [before, ready] = [readyOf(object), readyOf(written)];
  if (ready && ready.reason !== before?.reason) {
    const { namespace = "", name } = object.metadata;
    const { id } = readStatus(written).request ?? {};
    const { status, reason, message } = ready;
    const line = { object: objectKey(kind.kind, namespace, name), ready: status, reason, message };
    deps.log.info({ ...line, ...(id !== undefined && { platformRequest: id }) }, "status changed");
  }
  return written;
}

async function write(deps: Deps, kind: Kind, object: KubeObject, told: object): Promise<KubeObject> {
  const status = Object(bounded(told));
  // What is signed with a key that is not here may be all that is left of a claim: it is not written over.
  if (unknownKey(object)) return writeConditions(deps, kind, object, status);
  const isOurs = usesAccount(kind);
  // What says the same has the same signature.
  const { signature } = readStatus(object);
  if (isOurs && trust.get(object)?.current.status && !differs(object, { ...status, signature })) return object;
  const signed = isOurs ? deps.seal.signed(kind.kind, object, status) : status;
  if (!differs(object, signed)) return object;
  const wanted = JSON.parse(JSON.stringify(isOurs ? placed(signed) : signed));
  const written = keep(deps, kind, await replaceStatus(deps.client, resourceOf(kind), object, wanted));
  if (!("signature" in signed) || GROUPS.every((group) => trust.get(written)?.[group] === "ours")) return written;
  throw new Error(`the CRD ${kind.plural}.${GROUP} is older than the operator: apply crds/ of its version`);
}

/** Writes how an object stands, and leaves everything else in its status alone. */
async function writeConditions(deps: Deps, kind: Kind, object: KubeObject, status: object): Promise<KubeObject> {
  const standing = {
    conditions: Reflect.get(status, "conditions"),
    observedGeneration: Reflect.get(status, "observedGeneration"),
  };
  if (!hasOtherConditions(object, standing)) return object;
  const { uid, resourceVersion } = object.metadata;
  const change = { metadata: { uid, resourceVersion }, status: standing };
  return keep(deps, kind, await patch(deps.client, resourceOf(kind), object.metadata, change, "status"));
}

/** The object as the API server has it now; undefined when it, the very same one, is gone. */
export async function fetchObject(deps: Deps, kind: Kind, object: KubeObject): Promise<KubeObject | undefined> {
  const fresh = await fetchNamed(deps.client, resourceOf(kind), object.metadata);
  return fresh && fresh.metadata.uid === object.metadata.uid ? keep(deps, kind, fresh) : undefined;
}

/** Own writes are read at once: the next decision must not rest on what was before. */
const keep = (deps: Deps, kind: Kind, object: KubeObject): KubeObject => deps.objects.admit(kind, object);
