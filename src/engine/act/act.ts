import type { Decision } from "../decide/decision.ts";
import type { Again, Deps } from "../look/deps.ts";
import { inputsOf } from "../look/look.ts";
import { obstacleOf } from "../look/problems.ts";
import { dueAt } from "../look/rotation.ts";
import type { Scene } from "../look/view.ts";
import { bornOf, isClaimed } from "../objects/birth.ts";
import { EXTERNAL_ID, INTENT } from "../objects/names.ts";
import { ownerOf } from "../objects/objects.ts";
import type { Note } from "../objects/published.ts";
import {
  comparison,
  ownership,
  postpone,
  record,
  refreshed,
  refuse,
  report,
  stall,
  withPlatform,
} from "../record/record.ts";
import { release, writeMetadata } from "../record/write.ts";
import type { Reason } from "../schema/reasons.ts";
import { readFacts, type Standing } from "../schema/status.ts";
import { fetchCertificate } from "../secrets/certificate-secret.ts";
import { recallKey, renewKey, republish } from "../secrets/keys.ts";
import { adopt } from "./adopt.ts";
import { inspect, recall, remove, update } from "./change.ts";
import { claim, create } from "./create.ts";
import { search } from "./search.ts";

/** Performs one step and records its outcome. */
export async function act(deps: Deps, scene: Scene, decision: Decision): Promise<Again> {
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
      return attemptCreation(deps, scene);
    case "search":
      return withPlatform(deps, scene, async () => {
        if (scene.view.intent) await search(deps, scene, scene.view.intent);
        return "now";
      });
    case "adopt":
      return withPlatform(deps, scene, () => adopt(deps, scene, decision.id));
    case "inspect":
      return withPlatform(deps, scene, () => inspect(deps, scene));
    case "claim":
      return takeOver(deps, scene, decision.id);
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
    case "recall": {
      const again = scene.status.request?.nonce === undefined ? recall : recallKey;
      return withPlatform(deps, scene, () => again(deps, scene));
    }
    case "delete":
      return withPlatform(deps, scene, () => remove(deps, scene, decision.action));
    case "release":
      if (decision.reason === "Deleted") vacate(deps, scene);
      await release(deps, scene.kind, scene.object);
      deps.events.record(scene.object, "Normal", decision.reason, decision.message);
      return "never";
  }
}

async function rest(deps: Deps, scene: Scene): Promise<Again> {
  const { kind, shared, view, memory, object, desired, inputs } = scene;
  const { claim: owned } = view;
  if (!owned || !shared) return "never";
  const item = shared.collection.read(owned.id).item;
  const { noun } = kind.resource.names;
  const ready: Standing = view.observed
    ? { mode: "ready", reason: "Observed", message: `the ${noun} is observed and never changed` }
    : { mode: "ready", reason: "Available", message: `the ${noun} is as wanted` };
  const { drift } = comparison(scene);
  const publication = view.observed ? undefined : desired?.publication({ name: object.metadata.name });
  const note = publication && deps.published.find(object, publication.name).note;
  // Who only observes a number means whatever has it.
  const born = kind.resource.identity.reusesIds && !view.observed ? (owned.born ?? bornOf(item?.raw)) : undefined;
  const known = {
    ...ownership(scene),
    born,
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
  shared.collection.untrack(owned.id);
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
async function annotate(deps: Deps, { key, kind, view, account, memory, shared }: Scene): Promise<Again> {
  const object = deps.objects.find(key)?.object;
  const owned = view.claim;
  if (!object || !owned || object.metadata.annotations?.[INTENT] === undefined) return "never";
  const now = deps.clock.now();
  if (shared && shared.collection.inFlux > 0) memory.restingSince = now;
  memory.restingSince ??= now;
  const inMs = memory.restingSince + deps.settings.annotateAfterMs - now;
  if (inMs > 0) return { inMs, background: true };
  deps.guard();
  const contract = account?.connection.contractNumber;
  const kept = {
    ...owned,
    account: account?.key ?? owned.account,
    owner: ownerOf(object),
    ...(contract && { contract }),
  };
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
    if (asked === "now") return asked;
  }
  // Whatever was asked for, its answer may be lost: what waits for one looks again by itself.
  const recheckMs = decision.recheckMs ?? (decision.look ? LOOK_MS : undefined);
  const again: Again = recheckMs === undefined ? "never" : { inMs: recheckMs };
  // Until the platform was looked at, what the status says is the best that is known.
  if (decision.reason === "Observing") return again;
  const bornAt = Date.parse(object.metadata.creationTimestamp ?? "") || 0;
  const youngFor = bornAt + deps.settings.graceMs - view.now;
  if (SHORTLIVED.has(decision.reason) && youngFor > 0 && !view.claim) return { inMs: youngFor };
  const { reason, message } = decision;
  const drift = view.observation.seen === "present" ? view.observation.comparison?.drift : undefined;
  await record(deps, scene, { mode: "reconciling", reason, message }, drift?.length ? { drift } : {});
  return again;
}

const LOOK_MS = 2000;

/** Asks for this one resource and its request, instead of waiting for the next list; never without a pause between. */
async function confirm(deps: Deps, { kind, status, view, shared, memory }: Scene): Promise<Again> {
  const { claim } = view;
  const askedAt = deps.clock.now();
  if (!shared || !claim || askedAt - (memory.askedAt ?? 0) < LOOK_MS / 2) return "never";
  memory.askedAt = askedAt;
  const signal = AbortSignal.timeout(deps.settings.createDeadlineMs);
  const { url } = status.request ?? {};
  if (kind.resource.identity.reusesIds && url !== undefined) {
    const state = await shared.source.requestStatus?.(url, signal);
    if (state) {
      const { status, message } = state;
      memory.told = { url, status, knownAt: deps.clock.now(), ...(message !== undefined && { message }) };
    }
    // What is seen under a number may be the one before: only a list from now on shows what was done.
    if (state?.status === "DONE") shared.collection.refresh();
    if (state && state.status !== "BUSY") return "now";
  } else shared.collection.ask(claim.id);
  if (view.observation.seen !== "absent") return "never";
  const item = await shared.source.get?.(claim.id, signal);
  const there = item && isClaimed(claim, item.raw);
  if (there) shared.collection.refresh();
  memory.absence = there ? undefined : { since: memory.absence?.since ?? askedAt, last: askedAt };
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
  const inMs = postpone(deps, scene, decision);
  if (decision.gone) vacate(deps, scene);
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
      await report(deps, refreshed(deps, scene), obstacleOf(result.error), "backoff");
      return "now";
    case "refused":
      return refuse(deps, refreshed(deps, scene), result.error, { nonce: result.intent.nonce }, result.hide);
  }
}

async function takeOver(deps: Deps, scene: Scene, id: string): Promise<Again> {
  const { intent } = scene.view;
  if (!intent) return "now";
  const { unclaimed, search: found } = scene.memory;
  const request = found?.requests[id];
  const known =
    unclaimed?.id === id
      ? unclaimed
      : { nonce: intent.nonce, id, since: Date.parse(intent.at), searched: true, ...(request && { request }) };
  // On record before anything is awaited: no other object with an equal body may take the same one.
  scene.memory.unclaimed = known;
  await claim(deps, scene, intent, known);
  return "now";
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
  vacate(deps, scene);
  await writeMetadataWithoutClaim(deps, scene);
  const after = refreshed(deps, scene);
  await record(deps, after, standing, { ...NOTHING, left: id, request: undefined, drift: undefined });
  deps.events.record(after.object, replaced ? "Normal" : "Warning", standing.reason, standing.message);
  deps.collections.leave(scene.key);
  scene.memory.absence = undefined;
  return "now";
}

/** From now on its place is empty, or another one's. Said before the object lets go of it, so that nobody looks in between. */
function vacate({ objects, clock }: Deps, { kind, view }: Scene): void {
  if (view.claim) objects.vacate(kind.kind, view.claim, clock.now());
}

/** The status of an object without a resource. */
const NOTHING = {
  id: undefined,
  state: undefined,
  parents: undefined,
  born: undefined,
  fixed: undefined,
  secretName: undefined,
  key: undefined,
  certificate: undefined,
};

/** An id that no longer means anything must not come back out of the annotation. */
async function writeMetadataWithoutClaim(deps: Deps, { kind, object }: Scene): Promise<void> {
  if (object.metadata.annotations?.[EXTERNAL_ID] !== undefined) await writeMetadata(deps, kind, object, {});
}
