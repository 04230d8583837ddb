import type { Again } from "../../kube/queue/work.ts";
import type { Decision } from "../decide/decision.ts";
import type { Deps } from "../look/deps.ts";
import { leavingBehind } from "../look/left-behind.ts";
import type { Observation, Scene } from "../look/view.ts";
import { EXTERNAL_ID, FINALIZER } from "../objects/names.ts";
import { ownership, pause, postpone, record, stall, withPlatform, withWritten } from "../record/record.ts";
import { release, writeMetadata } from "../record/write.ts";
import type { Standing } from "../schema/status.ts";
import { countedAnnotation } from "../schema/trust.ts";
import { fetchCertificate } from "../secrets/certificate-secret.ts";
import { deliver, republish } from "../secrets/keys.ts";
import { writeOutput } from "../secrets/output.ts";
import { adopt } from "./adopt.ts";
import { inspect, recall, remove, renewKey, retract, update } from "./change.ts";
import { check } from "./check.ts";
import { confirm, LOOK_MS } from "./confirm.ts";
import { create } from "./create.ts";
import { lookFor, takeOver } from "./recover.ts";
import { idle, rest } from "./rest.ts";
import { revoke } from "./revoke.ts";

/** Performs one step and records its outcome. */
export async function act(deps: Deps, scene: Scene, decision: Decision): Promise<Again> {
  const { observation } = scene.view;
  if (observation.seen === "present") {
    scene.memory.absence = undefined;
    scene.memory.seenAt = scene.view.platformNow - (scene.view.now - observation.asOf);
  }
  const { search } = scene.view;
  // Whatever comes next, it is not known any more after that.
  if (search && search.matches.length > search.rivals) scene.memory.unclaimed = search.matches;
  switch (decision.step) {
    case "ignore":
      return "never";
    case "rest":
      return rest(deps, scene, decision.keep ?? false, decision.obstacle);
    case "pause":
      await pause(deps, scene);
      return "never";
    case "wait":
      return wait(deps, scene, decision);
    case "stall":
      if (decision.look) {
        const asked = await withPlatform(deps, scene, () => confirm(deps, scene));
        if (asked !== "never") return asked;
      }
      await stall(deps, scene, decision.reason, decision.message, {
        ...settledRequest(scene),
        ...(observation.seen === "absent" && { state: undefined }),
      });
      return decision.retryMs === undefined ? "never" : { inMs: decision.retryMs };
    case "fail":
      return fail(deps, scene, decision);
    case "create":
      return withPlatform(deps, scene, () => create(deps, scene));
    case "search":
      return withPlatform(deps, scene, () => lookFor(deps, scene));
    case "check":
      return withPlatform(deps, scene, () => check(deps, scene));
    case "idle":
      return idle(deps, scene);
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
      if (scene.view.successive) return withPlatform(deps, scene, () => create(deps, scene));
      return withPlatform(deps, scene, () =>
        scene.kind.resource.secret?.certificate ? fetchCertificate(deps, scene) : renewKey(deps, scene),
      );
    case "revoke":
      return withPlatform(deps, scene, () => revoke(deps, scene));
    case "publish":
      return republish(deps, scene);
    case "output":
      return writeOutput(deps, scene);
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
      deps.log.info({ object: scene.key, reason: decision.reason, message: decision.message }, "object released");
      deps.events.record(scene.object, "Normal", decision.reason, decision.message);
      return "never";
  }
}

async function wait(deps: Deps, scene: Scene, decision: Extract<Decision, { step: "wait" }>): Promise<Again> {
  const { shared, view } = scene;
  if (decision.look === "list") shared?.collection.refresh([scene.identity]);
  if (decision.look === "member") {
    const asked = await withPlatform(deps, scene, () => confirm(deps, scene));
    // What the read was answered is news, or is written down already.
    if (asked !== "never") return asked;
  }
  // Whatever was asked for, its answer may be lost: what waits for one looks again by itself.
  const recheckMs = decision.recheckMs ?? (decision.look && (decision.look === "list" ? LISTED_MS : LOOK_MS));
  const again: Again = recheckMs === undefined ? "never" : { inMs: recheckMs };
  // Until the platform was looked at, what the status says is the best that is known.
  if (decision.reason === "Observing") return again;
  // The former key works until its successor is there: the object stays as Ready as it was.
  if (decision.reason === "Creating" && view.previous && !view.previous.isOver) return again;
  const { reason, message } = decision;
  const drift = view.observation.seen === "present" ? view.observation.comparison?.drift : undefined;
  await record(deps, scene, { mode: "reconciling", reason, message }, drift?.length ? { drift } : {});
  return again;
}

/** A list that many ask for comes seconds later, and tells who has asked. */
const LISTED_MS = 10_000;

/** A request whose resource rests again is over, whatever else is wrong with it. */
function settledRequest({ view }: Scene): { request?: undefined } {
  const { request, observation } = view;
  const over = request && observation.seen === "present" && !observation.busy && observation.asOf > request.since;
  return over ? { request: undefined } : {};
}

async function fail(deps: Deps, scene: Scene, decision: Extract<Decision, { step: "fail" }>): Promise<Again> {
  const { request } = scene.status;
  // A write that failed has pauses of its own.
  scene.memory.accepted = undefined;
  const changes = {
    request: request && { ...request, status: "FAILED" as const },
    ...(decision.gone && NOTHING),
  };
  const { inMs, message } = postpone(deps, scene, decision);
  await stall(deps, scene, decision.reason, message, changes);
  if (decision.gone) {
    deps.collections.leave(scene.key);
    scene.memory.absence = undefined;
  }
  return { inMs };
}

/** Puts back what keeps the object from going without its resource, and a creation from being forgotten. */
async function mark(deps: Deps, scene: Scene): Promise<Again> {
  const { kind, object, view } = scene;
  deps.guard();
  const marks = view.intent ? { intent: view.intent } : { claim: ownership(scene) };
  const { metadata } = await writeMetadata(deps, kind, object, marks);
  return metadata.finalizers?.includes(FINALIZER) ? "now" : "backoff";
}

/** The resource is gone: by itself, or deleted to make room for its successor. Or spec means another one by now. */
async function forget(deps: Deps, scene: Scene): Promise<Again> {
  const id = scene.view.claim?.id;
  const { observation } = scene.view;
  const left = observation.seen === "present";
  const replaced = left || scene.view.request?.action === "replace";
  const { unwanted } = scene.view;
  const what = replaced
    ? `is ${left ? "kept" : "deleted"}; ${unwanted ? "spec asks for none" : "creating the replacement"}`
    : `${lossOf(observation)}; ${unwanted ? "spec asks for none" : "creating it again"}`;
  const reason = replaced ? "Replacing" : "Vanished";
  const standing: Standing = { mode: "reconciling", reason, message: `${scene.kind.kind} ${id} ${what}` };
  // An id that no longer means anything must not come back out of the annotation.
  const { kind, object } = scene;
  const isKept = countedAnnotation(object, EXTERNAL_ID) !== undefined;
  const after = isKept ? withWritten(scene, await writeMetadata(deps, kind, object)) : scene;
  const leftBehind = left ? scene.status.leftBehind : leavingBehind(deps, scene, replaced);
  await record(deps, after, standing, { ...NOTHING, left: id, leftBehind, request: undefined, drift: undefined });
  deps.events.record(after.object, replaced ? "Normal" : "Warning", standing.reason, standing.message);
  deps.collections.leave(scene.key);
  scene.memory.absence = undefined;
  scene.memory.goneAt = deps.clock.monotonic();
  return "now";
}

function lossOf(observation: Observation): string {
  const { deletion } = observation.seen === "absent" ? observation : {};
  return deletion === undefined ? "is no longer on the platform" : `was deleted outside Mooring ${deletion}`;
}

/** The status of an object without a resource. */
const NOTHING = {
  id: undefined,
  state: undefined,
  parents: undefined,
  born: undefined,
  adoptedAt: undefined,
  onlyObserved: undefined,
  endpoint: undefined,
  fixed: undefined,
  secretName: undefined,
  key: undefined,
  certificate: undefined,
};
