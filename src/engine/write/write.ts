import { isDeepStrictEqual } from "node:util";
import { bounded } from "../../kinds/fields/bounded.ts";
import { GROUP } from "../../kinds/index.ts";
import { type Kind, usesAccount } from "../../kinds/kind.ts";
import { isConflict, isNotFound, refusalOf } from "../../kube/client/errors.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { fetchObject as fetchNamed } from "../../kube/watch/followed.ts";
import { hasMoreFinalizers } from "../../kube/watch/reduced.ts";
import { apply, patch, replaceStatus, target } from "../../kube/write/apply.ts";
import type { Condition } from "../../kube/write/conditions.ts";
import { nextAttempt } from "../../runtime/attempt.ts";
import { hashBody } from "../../runtime/hash.ts";
import type { Deps } from "../observe/deps.ts";
import { annotationAdvice, isAboutAnnotations, recreateAdvice } from "../state/annotations.ts";
import type { Claim, Intent } from "../state/intent.ts";
import { EXTERNAL_ID, FINALIZER, INTENT } from "../state/names.ts";
import { keyTo, resourceOf } from "../state/object.ts";
import { nested } from "../status/schema.ts";
import { differs, readStatus, readyOf } from "../status/status.ts";
import { GROUPS, trust, unknownKey } from "../status/trust.ts";

/** Writes the finalizer and these annotations, and removes the others. Conflicts if the object has changed. */
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
  const written = await apply<KubeObject>(deps.client, resourceOf(kind), wanted).catch(recordRefusal(deps, object));
  noteWrite(deps, kind, object, "metadata", { finalizers: [FINALIZER], annotations });
  const { annotations: left } = written.metadata;
  const surplus = [INTENT, EXTERNAL_ID].filter((name) => !(name in annotations) && left?.[name]);
  // Apply leaves annotations that another field manager owns too, such as a restore from a backup.
  return keep(deps, kind, surplus.length > 0 ? await erase(deps, kind, written, surplus) : written);
}

/** Removes annotations, whichever field manager owns them, and sets the finalizers if they are given. */
async function erase(deps: Deps, kind: Kind, { metadata }: KubeObject, annotations: string[], finalizers?: string[]) {
  const { uid, resourceVersion } = metadata;
  const gone = Object.fromEntries(annotations.map((annotation) => [annotation, null]));
  const change = { metadata: { uid, resourceVersion, annotations: gone, ...(finalizers && { finalizers }) } };
  return patch(deps.client, resourceOf(kind), metadata, change);
}

/** Removes the finalizer and all annotations of Mooring. The object may be gone already. */
export async function release(deps: Deps, kind: Kind, object: KubeObject): Promise<void> {
  // The store is updated at once: the next pass must not release the object again before the watch shows its deletion.
  const gone = (last: KubeObject) => deps.objects.store(kind.kind).remove(last);
  try {
    // The store keeps only some of very many finalizers.
    const whole = hasMoreFinalizers(object) ? await fetchNamed(deps.client, resourceOf(kind), object.metadata) : object;
    const others = whole?.metadata.finalizers?.filter((name) => name !== FINALIZER) ?? [];
    const left = await erase(deps, kind, object, [INTENT, EXTERNAL_ID], others);
    // The answer to the write that lets the API server delete the object still shows it.
    if (left.metadata.deletionTimestamp && !left.metadata.finalizers?.length) gone(left);
    else keep(deps, kind, left);
  } catch (error) {
    if (!isNotFound(error) && (!isConflict(error) || (await fetchObject(deps, kind, object)))) throw error;
    gone(object);
  }
}

/** Writes the whole status if it differs. Conflicts if the object has changed. */
export async function writeStatus(deps: Deps, kind: Kind, object: KubeObject, wanted: object): Promise<KubeObject> {
  const written = await write(deps, kind, object, withAnnotationAdvice(kind, object, wanted));
  const known = readStatus(object).advice ?? [];
  const added = readStatus(written).advice?.filter((each) => !known.includes(each)) ?? [];
  for (const advice of added) deps.events.record(written, "Warning", "Advice", advice);
  const [before, ready] = [readyOf(object), readyOf(written)];
  if (ready && ready.reason !== before?.reason) {
    const { id } = readStatus(written).request ?? {};
    const { status, reason, message } = ready;
    const line = { object: keyTo(kind, object), ready: status, reason, message };
    deps.log.info({ ...line, ...(id !== undefined && { platformRequest: id }) }, "status changed");
  }
  return written;
}

async function write(deps: Deps, kind: Kind, object: KubeObject, wanted: object): Promise<KubeObject> {
  const status = Object(bounded(wanted));
  // A status that is signed with an unknown key may have the only record of a claim: it is not overwritten.
  const { conditions, observedGeneration } = status;
  if (unknownKey(object)) return writeConditions(deps, kind, object, { conditions, observedGeneration });
  const isSigned = usesAccount(kind);
  // The same status has the same signature.
  const { signature } = readStatus(object);
  if (isSigned && trust.get(object)?.current.status && !differs(object, { ...status, signature })) return object;
  const signed = isSigned ? deps.seal.signed(kind.kind, object, status) : status;
  if (!differs(object, signed)) return object;
  const body = JSON.parse(JSON.stringify(isSigned ? nested(signed) : signed));
  const answer = await replaceStatus(deps.client, resourceOf(kind), object, body).catch(recordRefusal(deps, object));
  noteWrite(deps, kind, object, "status", body);
  const written = keep(deps, kind, answer);
  const isPruned = isSigned && !isDeepStrictEqual(answer.status, body);
  // A newer annotation may void what was written: that is no fault of the CRD.
  if (!isPruned || GROUPS.every((group) => trust.get(written)?.[group] === "ours")) return written;
  throw new Error(`the CRD ${kind.plural}.${GROUP} is older than the operator: apply crds/ of its version`);
}

/** An object whose status cannot be written either has no other place that says so: an Event does. */
const recordRefusal = (deps: Deps, object: KubeObject) => (error: unknown) => {
  const refusal = refusalOf(error);
  if (refusal) deps.events.record(object, "Warning", "ObjectNotWritable", refusal.why);
  throw refusal ?? error;
};

/** Fields that differ between two equal writes. */
const VARYING = ["lastTransitionTime", "since", "signature"];

/** The longest pause before a finalizer is put back: a deletion in that time leaves the resource behind. */
const WITHOUT_FINALIZER_MS = 10_000;

/** Counts how often the same is written: somebody undoes it. */
function noteWrite(deps: Deps, kind: Kind, object: KubeObject, what: "metadata" | "status", body: object) {
  const memory = deps.memories.of(keyTo(kind, object));
  const written = hashBody(JSON.stringify(body, (name, value) => (VARYING.includes(name) ? undefined : value)));
  const now = deps.clock.monotonic();
  const { retryAt, ...attempt } = nextAttempt(memory.writes?.[what], written, now);
  const longestMs = what === "metadata" ? WITHOUT_FINALIZER_MS : Infinity;
  memory.writes = { ...memory.writes, [what]: { ...attempt, retryAt: Math.min(retryAt, now + longestMs) } };
}

/** Writes only the conditions, and leaves the rest of status alone. */
async function writeConditions(deps: Deps, kind: Kind, object: KubeObject, wanted: object) {
  if (!differs(object, { ...Object(object.status), ...wanted })) return object;
  const { uid, resourceVersion } = object.metadata;
  const change = { metadata: { uid, resourceVersion }, status: wanted };
  return keep(deps, kind, await patch(deps.client, resourceOf(kind), object.metadata, change, "status"));
}

/** The object as the API server has it now; undefined if it is gone or was created again. */
export async function fetchObject(deps: Deps, kind: Kind, object: KubeObject): Promise<KubeObject | undefined> {
  const fresh = await fetchNamed(deps.client, resourceOf(kind), object.metadata);
  return fresh && fresh.metadata.uid === object.metadata.uid ? keep(deps, kind, fresh) : undefined;
}

/** Puts what this process wrote or read into the store at once: the next decision must see it. */
const keep = (deps: Deps, kind: Kind, object: KubeObject): KubeObject => deps.objects.admit(kind, object);

/** A status with the current advice about annotations. Other advice in it is kept. */
function withAnnotationAdvice(kind: Kind, object: KubeObject, status: object): object {
  const { advice: before, ...rest }: { advice?: unknown; conditions?: Condition[] } = status;
  const others: unknown[] = Array.isArray(before) ? before.filter((each) => !isAboutAnnotations(String(each))) : [];
  const reason = rest.conditions?.find(({ type }) => type === "Ready")?.reason;
  const advice = [...others, ...annotationAdvice(kind, object), ...recreateAdvice(object, reason)];
  return advice.length > 0 ? { ...rest, advice } : rest;
}

/** Whether status must be written again because of annotations: other advice, or a condition Paused that is over. */
export function isAnnotatedAnew(kind: Kind, object: KubeObject): boolean {
  const { advice = [], conditions = [] } = readStatus(object);
  const known = advice.filter(isAboutAnnotations);
  return (
    known.join("\n") !== annotationAdvice(kind, object).join("\n") || conditions.some(({ type }) => type === "Paused")
  );
}
