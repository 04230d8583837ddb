import type { Requeue } from "../../kube/queue/work.ts";
import type { Decision } from "../decide/decision.ts";
import type { Deps } from "../observe/deps.ts";
import { leavingBehind } from "../observe/left-behind.ts";
import type { Context, Observation } from "../observe/view.ts";
import { fetchCertificate } from "../secrets/certificate-secret.ts";
import { deliver, republish } from "../secrets/keys.ts";
import { writeOutput } from "../secrets/output.ts";
import { EXTERNAL_ID, FINALIZER } from "../state/names.ts";
import type { ReadyState } from "../status/status.ts";
import { countedAnnotation } from "../status/trust.ts";
import { ownership, pause, postpone, record, stall, withPlatform, withWritten } from "../write/record.ts";
import { release, writeMetadata } from "../write/write.ts";
import { adopt } from "./adopt.ts";
import { recall, remove, renewKey, retract, update } from "./change.ts";
import { check } from "./check.ts";
import { confirm, LOOK_MS } from "./confirm.ts";
import { create } from "./create.ts";
import { inspect } from "./inspect.ts";
import { lookFor, takeOver } from "./recover.ts";
import { revoke } from "./revoke.ts";
import { idle, rest } from "./up-to-date.ts";

/** Performs one step and records its outcome. */
export async function execute(deps: Deps, context: Context, decision: Decision): Promise<Requeue> {
  const { observation } = context.view;
  if (observation.seen === "present") {
    context.memory.absence = undefined;
    context.memory.seenAt = context.view.platformNow - (context.view.now - observation.asOf);
  }
  const { search } = context.view;
  // Whatever comes next, it is not known any more after that.
  if (search && search.matches.length > search.rivals) context.memory.unclaimed = search.matches;
  switch (decision.step) {
    case "ignore":
      return "never";
    case "rest":
      return rest(deps, context, decision.keep ?? false, decision.obstacle);
    case "pause":
      await pause(deps, context);
      return "never";
    case "wait":
      return wait(deps, context, decision);
    case "stall":
      if (decision.look) {
        const asked = await withPlatform(deps, context, () => confirm(deps, context));
        if (asked !== "never") return asked;
      }
      await stall(deps, context, decision.reason, decision.message, {
        ...settledRequest(context),
        ...(observation.seen === "absent" && { state: undefined }),
      });
      return decision.retryMs === undefined ? "never" : { inMs: decision.retryMs };
    case "fail":
      return fail(deps, context, decision);
    case "create":
      return withPlatform(deps, context, () => create(deps, context));
    case "search":
      return withPlatform(deps, context, () => lookFor(deps, context));
    case "check":
      return withPlatform(deps, context, () => check(deps, context));
    case "idle":
      return idle(deps, context);
    case "adopt":
      return withPlatform(deps, context, () => adopt(deps, context, decision.id));
    case "inspect":
      return withPlatform(deps, context, () => inspect(deps, context));
    case "claim":
      return takeOver(deps, context, decision.identity);
    case "mark":
      return mark(deps, context);
    case "forget":
      return forget(deps, context);
    case "update":
      return withPlatform(deps, context, () => update(deps, context, decision.operation));
    case "renew":
      if (context.view.successive) return withPlatform(deps, context, () => create(deps, context));
      return withPlatform(deps, context, () =>
        context.kind.resource.secret?.certificate ? fetchCertificate(deps, context) : renewKey(deps, context),
      );
    case "revoke":
      return withPlatform(deps, context, () => revoke(deps, context));
    case "publish":
      return republish(deps, context);
    case "output":
      return writeOutput(deps, context);
    case "recall":
      return withPlatform(deps, context, () => recall(deps, context));
    case "retract":
      return retract(deps, context);
    case "deliver":
      return deliver(deps, context);
    case "delete":
      return withPlatform(deps, context, () => remove(deps, context, decision.action));
    case "release":
      await release(deps, context.kind, context.object);
      deps.log.info({ object: context.key, reason: decision.reason, message: decision.message }, "object released");
      deps.events.record(context.object, "Normal", decision.reason, decision.message);
      return "never";
  }
}

async function wait(deps: Deps, context: Context, decision: Extract<Decision, { step: "wait" }>): Promise<Requeue> {
  const { shared, view } = context;
  if (decision.look === "list") shared?.collection.refresh([context.identity]);
  if (decision.look === "member") {
    const asked = await withPlatform(deps, context, () => confirm(deps, context));
    // What the read was answered is news, or is written down already.
    if (asked !== "never") return asked;
  }
  // Whatever was asked for, its answer may be lost: what waits for one looks again by itself.
  const recheckMs = decision.recheckMs ?? (decision.look && (decision.look === "list" ? LISTED_MS : LOOK_MS));
  const again: Requeue = recheckMs === undefined ? "never" : { inMs: recheckMs };
  // Until the platform was looked at, what the status says is the best that is known.
  if (decision.reason === "Observing") return again;
  // The former key works until the new one is there: the object stays as Ready as it was.
  if (decision.reason === "Creating" && view.previous && !view.previous.isOver) return again;
  const { reason, message } = decision;
  const drift = view.observation.seen === "present" ? view.observation.comparison?.drift : undefined;
  await record(deps, context, { mode: "reconciling", reason, message }, drift?.length ? { drift } : {});
  return again;
}

/** A list that many ask for comes seconds later, and tells who has asked. */
const LISTED_MS = 10_000;

/** A request whose resource rests again is over, whatever else is wrong with it. */
function settledRequest({ view }: Context): { request?: undefined } {
  const { request, observation } = view;
  const over = request && observation.seen === "present" && !observation.busy && observation.asOf > request.since;
  return over ? { request: undefined } : {};
}

async function fail(deps: Deps, context: Context, decision: Extract<Decision, { step: "fail" }>): Promise<Requeue> {
  const { request } = context.status;
  // A write that failed has pauses of its own.
  context.memory.accepted = undefined;
  const changes = {
    request: request && { ...request, status: "FAILED" as const },
    ...(decision.gone && NOTHING),
  };
  const { inMs, message } = postpone(deps, context, decision);
  await stall(deps, context, decision.reason, message, changes);
  if (decision.gone) {
    deps.collections.leave(context.key);
    context.memory.absence = undefined;
  }
  return { inMs };
}

/** Puts back what keeps the object from going without its resource, and a creation from being forgotten. */
async function mark(deps: Deps, context: Context): Promise<Requeue> {
  const { kind, object, view } = context;
  deps.guard();
  const marks = view.intent ? { intent: view.intent } : { claim: ownership(context) };
  const { metadata } = await writeMetadata(deps, kind, object, marks);
  return metadata.finalizers?.includes(FINALIZER) ? "now" : "backoff";
}

/** The resource is gone, deleted for its replacement, or spec names another one now. */
async function forget(deps: Deps, context: Context): Promise<Requeue> {
  const id = context.view.claim?.id;
  const { observation } = context.view;
  const left = observation.seen === "present";
  const replaced = left || context.view.request?.action === "replace";
  const { unwanted } = context.view;
  const what = replaced
    ? `is ${left ? "kept" : "deleted"}; ${unwanted ? "spec asks for none" : "creating the replacement"}`
    : `${lossOf(observation)}; ${unwanted ? "spec asks for none" : "creating it again"}`;
  const reason = replaced ? "Replacing" : "Vanished";
  const standing: ReadyState = { mode: "reconciling", reason, message: `${context.kind.kind} ${id} ${what}` };
  // An id that no longer means anything must not come back out of the annotation.
  const { kind, object } = context;
  const isKept = countedAnnotation(object, EXTERNAL_ID) !== undefined;
  const after = isKept ? withWritten(context, await writeMetadata(deps, kind, object)) : context;
  const leftBehind = left ? context.status.leftBehind : leavingBehind(deps, context, replaced);
  await record(deps, after, standing, { ...NOTHING, left: id, leftBehind, request: undefined, drift: undefined });
  deps.events.record(after.object, replaced ? "Normal" : "Warning", standing.reason, standing.message);
  deps.collections.leave(context.key);
  context.memory.absence = undefined;
  context.memory.goneAt = deps.clock.monotonic();
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
  expiresIn: undefined,
};
