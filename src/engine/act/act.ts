import { NotFound } from "../../platform/errors.ts";
import type { Decision } from "../decide/decision.ts";
import type { Again, Deps } from "../look/deps.ts";
import { creationOf } from "../look/findings.ts";
import { inputsOf } from "../look/look.ts";
import { dueAt } from "../look/rotation.ts";
import type { Scene } from "../look/view.ts";
import { birthOf } from "../objects/identity.ts";
import { ALLOW_DATA_LOSS, EXTERNAL_ID, FINALIZER, INTENT } from "../objects/names.ts";
import { objectKey, ownerOf } from "../objects/objects.ts";
import type { Note } from "../objects/published.ts";
import {
  comparison,
  ownership,
  postpone,
  record,
  refreshed,
  refuse,
  reject,
  report,
  stall,
  withPlatform,
} from "../record/record.ts";
import { release, writeMetadata } from "../record/write.ts";
import type { Obstacle, Reason } from "../schema/reasons.ts";
import { readFacts, type Standing } from "../schema/status.ts";
import { fetchCertificate } from "../secrets/certificate-secret.ts";
import { deliver, renewKey, republish } from "../secrets/keys.ts";
import { adopt } from "./adopt.ts";
import { inspect, recall, remove, retract, update } from "./change.ts";
import { claim, create } from "./create.ts";
import { search } from "./search.ts";

/** Performs one step and records its outcome. */
export async function act(deps: Deps, scene: Scene, decision: Decision): Promise<Again> {
  // What was in doubt is there: its absence would have to be confirmed anew.
  if (scene.view.observation.seen === "present") scene.memory.absence = undefined;
  switch (decision.step) {
    case "ignore":
      return "never";
    case "rest":
      return rest(deps, scene);
    case "wait":
      return wait(deps, scene, decision);
    case "stall":
      await stall(deps, scene, decision.reason, decision.message, settledRequest(scene));
      return decision.retryMs === undefined ? "never" : { inMs: decision.retryMs };
    case "fail":
      return fail(deps, scene, decision);
    case "create":
      return withPlatform(deps, scene, () => attemptCreation(deps, scene));
    case "search":
      return withPlatform(deps, scene, async () => {
        await lookFor(deps, scene);
        return "now";
      });
    case "adopt":
      return withPlatform(deps, scene, () => adopt(deps, scene, decision.id));
    case "inspect":
      return withPlatform(deps, scene, () => inspect(deps, scene));
    case "claim":
      return takeOver(deps, scene, decision.identity);
    case "mark":
      return mark(deps, scene);
    case "forget":
      return forget(deps, scene);
    case "update":
      return withPlatform(deps, scene, () => update(deps, scene, decision.operation));
    case "renew":
      return scene.kind.resource.secret?.certificate
        ? withPlatform(deps, scene, () => fetchCertificate(deps, scene))
        : renewKey(deps, scene);
    case "publish":
      return republish(deps, scene);
    case "recall":
      return withPlatform(deps, scene, () => recall(deps, scene));
    case "retract":
      return retract(deps, scene);
    case "deliver":
      return deliver(deps, scene);
    case "delete":
      return withPlatform(deps, scene, () => remove(deps, scene, decision.action));
    case "release":
      await release(deps, scene.kind, scene.object);
      deps.events.record(scene.object, "Normal", decision.reason, decision.message);
      return "never";
  }
}

async function rest(deps: Deps, scene: Scene): Promise<Again> {
  const { kind, shared, view, memory, object, desired, inputs, identity } = scene;
  const { claim: owned } = view;
  if (!owned || !shared) return "never";
  const item = shared.collection.read(identity).item;
  const { noun } = kind.resource.names;
  const ready: Standing = view.observed
    ? { mode: "ready", reason: "Observed", message: `the ${noun} is observed and never changed` }
    : { mode: "ready", reason: "Available", message: `the ${noun} is as wanted` };
  const { drift } = comparison(scene);
  const publication = view.observed ? undefined : desired?.publication({ name: object.metadata.name });
  const note = publication && deps.published.find(object, publication.name).note;
  const known = {
    ...ownership(scene),
    born: owned.born ?? (view.observed ? undefined : birthOf(kind, item?.raw)),
    // A word that is no longer there may be given again.
    lossAllowed: object.metadata.annotations?.[ALLOW_DATA_LOSS] === undefined ? undefined : scene.status.lossAllowed,
    state: item?.state,
    secretName: note && publication.name,
    ...shownKey(note),
  };
  const context = inputs ?? inputsOf(object, { parents: owned.parents, refs: {} });
  const facts = item ? kind.resource.comparison.facts(item.raw, context) : readFacts(object);
  const differences = drift?.length ? drift : undefined;
  const advice = desired && inputs && !view.observed ? desired.advice(inputs) : [];
  if (view.secret === "missing") advice.push(KEYLESS);
  if (memory.renewAfter !== undefined) advice.push(UNRENEWED);
  const said = advice.length > 0 ? advice : undefined;
  await record(deps, scene, ready, { ...known, request: undefined, drift: differences, advice: said }, facts);
  const before = scene.status.advice ?? [];
  for (const news of advice.filter((each) => !before.includes(each))) {
    deps.events.record(object, "Warning", "Advice", news);
  }
  shared.collection.untrack(identity);
  memory.failure = undefined;
  memory.askedAt = undefined;
  const again = await annotate(deps, scene);
  const due = note && dueAt(note.key, desired?.rotation(), memory.renewAfter);
  if (due === undefined) return again;
  // The platform's clock tells when, and may go another way than ours: a long time is not waited for in one go.
  const inMs = Math.min(Math.max(0, due - view.platformNow), deps.settings.resyncMs);
  return typeof again === "object" && again.inMs < inMs ? again : { inMs, background: true };
}

function shownKey(note: Note | undefined) {
  return note && "serial" in note.key ? { certificate: note.key } : { key: note?.key };
}

const KEYLESS =
  "the key of a resource that was taken over cannot be read: set the annotation mooring.dev/rotate-at to make a new one, which ends the present one";

const UNRENEWED =
  "the certificate is due to be renewed, and the platform has no younger one yet: it is asked again from time to time";

/**
 * Some time into its rest, an object's intent gives way to the id: it survives a backup that has no status. While
 * neighbours are still being built, their writes go first.
 */
async function annotate(deps: Deps, scene: Scene): Promise<Again> {
  const { key, kind, view, memory, shared } = scene;
  const object = deps.objects.find(key)?.object;
  const owned = view.claim;
  if (!object || !owned || object.metadata.annotations?.[INTENT] === undefined) return "never";
  const now = deps.clock.monotonic();
  if (shared && shared.collection.inFlux > 0) memory.restingSince = now;
  memory.restingSince ??= now;
  const inMs = memory.restingSince + deps.settings.annotateAfterMs - now;
  if (inMs > 0) return { inMs, background: true };
  deps.guard();
  const kept = { ...owned, ...ownership(scene), owner: ownerOf(object) };
  await writeMetadata(deps, kind, object, { [EXTERNAL_ID]: JSON.stringify(kept) });
  memory.restingSince = undefined;
  return "never";
}

/** Reasons that a young object is not bothered with: what it waits for usually comes in the same breath. */
const SHORTLIVED: ReadonlySet<Reason> = new Set([
  "ReferenceNotFound",
  "ReferenceNotReady",
  "AccountNotFound",
  "AccountNotReady",
]);

async function wait(deps: Deps, scene: Scene, decision: Extract<Decision, { step: "wait" }>): Promise<Again> {
  const { object, shared, view } = scene;
  if (decision.look === "list") shared?.collection.refresh();
  if (decision.look === "member") {
    const asked = await withPlatform(deps, scene, () => confirm(deps, scene));
    // What the read was answered is news, or is written down already.
    if (asked !== "never") return asked;
  }
  // Whatever was asked for, its answer may be lost: what waits for one looks again by itself.
  const recheckMs = decision.recheckMs ?? (decision.look ? LOOK_MS : undefined);
  const again: Again = recheckMs === undefined ? "never" : { inMs: recheckMs };
  // Until the platform was looked at, what the status says is the best that is known.
  if (decision.reason === "Observing") return again;
  const bornAt = Date.parse(object.metadata.creationTimestamp ?? "") || 0;
  const youngFor = bornAt + deps.settings.graceMs - deps.clock.now();
  if (SHORTLIVED.has(decision.reason) && youngFor > 0 && !view.claim) return { inMs: youngFor };
  const { reason, message } = decision;
  const drift = view.observation.seen === "present" ? view.observation.comparison?.drift : undefined;
  await record(deps, scene, { mode: "reconciling", reason, message }, drift?.length ? { drift } : {});
  return again;
}

const LOOK_MS = 2000;

/** Asks for this one resource and its request, instead of waiting for the next list; never without a pause between. */
async function confirm(deps: Deps, { identity, view, shared, memory }: Scene): Promise<Again> {
  const askedAt = deps.clock.monotonic();
  if (!shared || !view.claim || askedAt - (memory.askedAt ?? Number.NEGATIVE_INFINITY) < LOOK_MS / 2) return "never";
  memory.askedAt = askedAt;
  shared.collection.ask(identity);
  if (view.observation.seen !== "absent") return "never";
  const item = await shared.source.get?.(identity, AbortSignal.timeout(deps.settings.createDeadlineMs));
  if (item) shared.collection.refresh();
  memory.absence = item ? undefined : { since: memory.absence?.since ?? askedAt, last: askedAt };
  return "never";
}

/** A request whose resource rests again is over, whatever else is wrong with it. */
function settledRequest({ view }: Scene): { request?: undefined } {
  const { request, observation } = view;
  const over = request && observation.seen === "present" && !observation.busy && observation.asOf > request.since;
  return over ? { request: undefined } : {};
}

async function fail(deps: Deps, scene: Scene, decision: Extract<Decision, { step: "fail" }>): Promise<Again> {
  const { request } = scene.status;
  const changes = {
    request: request && { ...request, status: "FAILED" as const },
    ...(decision.gone && NOTHING),
  };
  const inMs = postpone(deps, scene, { ...decision, stalled: true });
  await stall(deps, scene, decision.reason, decision.message, changes);
  if (decision.gone) {
    deps.collections.leave(scene.key);
    scene.memory.absence = undefined;
  }
  return { inMs };
}

async function attemptCreation(deps: Deps, scene: Scene): Promise<Again> {
  const result = await create(deps, scene);
  switch (result.outcome) {
    case "claimed":
      return "now";
    case "obstructed":
      return report(deps, scene, result.obstacle, "backoff");
    case "unknown":
      return refuse(deps, refreshed(deps, scene), result.error);
    case "refused": {
      const { error, intent, hide } = result;
      const after = refreshed(deps, scene);
      const changes = { nonce: intent.nonce };
      if (!(error instanceof NotFound)) return refuse(deps, after, error, changes, hide);
      return reject(deps, after, orphaned(deps, scene), { changes });
    }
  }
}

/** 404 to a creation: what it was to live under is not there. Whoever stands for that is looked at again. */
function orphaned(deps: Deps, { object, desired, kind }: Scene): Obstacle {
  const namespace = object.metadata.namespace ?? "";
  const places = desired?.references.filter(({ bond = "place" }) => bond === "place") ?? [];
  const named = places.map(({ kind: parent, field, target }) => {
    if ("id" in target) return `${field.replace(/Ref$/, "Id")}: there is no ${parent} ${target.id}`;
    deps.collections.refresh(objectKey(parent, namespace, target.name));
    return `${field}: the resource of ${parent} ${target.name} is not there`;
  });
  const where = named.join(", or ") || `there is no place for the ${kind.resource.names.noun}`;
  return { reason: "ReferenceNotFound", message: `${where} on the platform, or not with this Account`, stalled: true };
}

/** Looks for what an open intent made. */
async function lookFor(deps: Deps, scene: Scene): Promise<void> {
  const { memory, view } = scene;
  const { intent, now } = view;
  if (!intent) return;
  const known = creationOf(memory, intent);
  const begun = { intent, begunAt: known?.begunAt ?? memory.begun?.at ?? now };
  const found = await search(deps, scene, intent, known?.phase === "sent" ? known.search : undefined);
  memory.creation = { ...begun, phase: "sent", search: found };
}

async function takeOver(deps: Deps, scene: Scene, identity: string): Promise<Again> {
  const { memory, view } = scene;
  const { intent, now } = view;
  if (!intent) return "now";
  const known = creationOf(memory, intent);
  const begun = { intent, begunAt: known?.begunAt ?? memory.begun?.at ?? now };
  const made = (known?.phase === "sent" && known.search?.matches.get(identity)) || { id: identity };
  const found = known?.phase === "made" ? known : { ...begun, phase: "made" as const, made, searched: true };
  // Known before anything is awaited: no other object with an equal body may take the same one.
  memory.creation = found;
  await claim(deps, scene, found);
  return "now";
}

/** Puts back what keeps the object from going without its resource, and a creation from being forgotten. */
async function mark(deps: Deps, { kind, object, view }: Scene): Promise<Again> {
  deps.guard();
  const kept = object.metadata.annotations?.[EXTERNAL_ID];
  const annotations = view.intent
    ? { [INTENT]: JSON.stringify(view.intent) }
    : { ...(kept !== undefined && { [EXTERNAL_ID]: kept }) };
  const written = await writeMetadata(deps, kind, object, annotations);
  return written.metadata.finalizers?.includes(FINALIZER) ? "now" : "backoff";
}

/** The resource is gone: by itself, or deleted to make room for its successor. Or spec means another one by now. */
async function forget(deps: Deps, scene: Scene): Promise<Again> {
  const { noun } = scene.kind.resource.names;
  const id = scene.view.claim?.id;
  const left = scene.view.observation.seen === "present";
  const replaced = left || scene.view.request?.action === "replace";
  const standing: Standing = replaced
    ? {
        mode: "reconciling",
        reason: "Replacing",
        message: `the ${noun} ${id} is ${left ? "left as it was" : "gone"}; its successor is next`,
      }
    : {
        mode: "reconciling",
        reason: "Vanished",
        message: `the ${noun} ${id} is no longer on the platform; it will be created again`,
      };
  await writeMetadataWithoutClaim(deps, scene);
  const after = refreshed(deps, scene);
  await record(deps, after, standing, { ...NOTHING, left: id, request: undefined, drift: undefined });
  deps.events.record(after.object, replaced ? "Normal" : "Warning", standing.reason, standing.message);
  deps.collections.leave(scene.key);
  scene.memory.absence = undefined;
  return "now";
}

/** The status of an object without a resource. */
const NOTHING = {
  id: undefined,
  state: undefined,
  parents: undefined,
  born: undefined,
  endpoint: undefined,
  fixed: undefined,
  secretName: undefined,
  key: undefined,
  certificate: undefined,
};

/** An id that no longer means anything must not come back out of the annotation. */
async function writeMetadataWithoutClaim(deps: Deps, { kind, object }: Scene): Promise<void> {
  if (object.metadata.annotations?.[EXTERNAL_ID] !== undefined) await writeMetadata(deps, kind, object, {});
}
