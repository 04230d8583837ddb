import { driftInWords } from "../../kinds/fields/compare.ts";
import type { View } from "../observe/view.ts";
import { mayBeHidden } from "../state/presence.ts";
import { nextStep } from "../state/succession.ts";
import { type Absent, awaitingDeletion, isRecreated, notSeen } from "./absence.ts";
import type { Decision } from "./decision.ts";
import { decideReplacement, deleteToReplace, type Present, renewal, replacementUnderWay } from "./deletion.ts";
import { decideUnanswered } from "./recovery.ts";
import { awaitingFirstRead, blockedBy, busyWithOthers, failed, inProgress, isDone, RECHECK_MS } from "./waiting.ts";

/** The object has a resource, and keeps it up to date. If it only observes, differences are reported and stay. */
export function decideClaimed(view: View): Decision {
  const { observation } = view.resource;
  const { observed } = view.spec;
  switch (observation.seen) {
    case "unknown":
      return awaitingFirstRead(view);
    case "absent":
      return observed ? notSeen(view, observation) : decideAbsent(view, observation);
    case "present":
      if (observed) return observation.busy ? busyWithOthers(view) : (decideOutput(view) ?? upToDate(view));
      for (const rule of Object.values(present)) {
        const decision = rule(view, observation);
        if (decision) return decision;
      }
      return upToDateOrDrifted(view, observation);
  }
}

/** The rules for a resource that is present, in this order. The last one, without a condition, is `upToDateOrDrifted`. */
const present = {
  /** The platform is changing it: nothing is sent meanwhile. */
  busy: (view, { busy }) => {
    const { request } = view.resource;
    if (!busy) return undefined;
    return request ? inProgress(view, request.action) : busyWithOthers(view);
  },
  /** The read is older than the last write, and does not show its effect. */
  readBeforeWrite: (view, { asOf }) => {
    const { request } = view.resource;
    if (!request || asOf > request.since) return undefined;
    // An unanswered write has no request to ask for: only a later read shows its effect.
    return { ...inProgress(view, request.action), ...(request.outcome === "unanswered" && { read: "list" }) };
  },
  /** The last write got no answer. */
  unanswered: decideUnanswered,
  /** Spec asks for no resource any more. */
  unwanted: decideUnwanted,
  /** An immutable field has changed. */
  replacement: decideReplacement,
  /** It failed on the platform. */
  broken: decideBroken,
  /** Something differs that the platform can change. */
  change: decideChange,
  /** Workloads need their Secret. */
  secret: (view) => decideSecret(view, decideCheck(view)),
  /** Spec names an entry of a catalogue that was not looked up yet. */
  catalogue: decideCheck,
  /** The time of the previous token is over. */
  previous: decidePrevious,
  /** Workloads need the Secret or ConfigMap of spec.output. */
  output: decideOutput,
} satisfies Record<string, (view: View, observation: Present) => Decision | undefined>;

/** One write at a time: the next one is sent when the effect of the last one is seen. */
function decideChange(view: View, { asOf, comparison }: Present): Decision | undefined {
  const { request } = view.resource;
  if (!comparison?.next) return undefined;
  if (request && request.action !== "create") {
    if (request.outcome === "FAILED") return failed(view, request, false);
    const isHidden = request.unseen && mayBeHidden(request.since, asOf, view.times.believedMs);
    if (request.outcome !== "DONE" || isHidden) return { ...inProgress(view, request.action), read: "member" };
  }
  return { step: "update", operation: comparison.next };
}

function decideAbsent(view: View, observation: Absent): Decision {
  const { request } = view.resource;
  if (request?.action === "replace") {
    if (request.outcome === "DONE") return { step: "forget" };
    return request.outcome === "FAILED" ? failed(view, request, false) : awaitingDeletion(view, "replace");
  }
  if (request?.outcome === "FAILED") return failed(view, request, request.action === "create");
  if (request && request.outcome !== "DONE") return inProgress(view, request.action);
  // The effect of a request may be visible only some time after it is DONE.
  const { absence, asOf } = observation;
  if (request && absence !== "deleted" && mayBeHidden(request.since, asOf, view.times.believedMs))
    return { ...inProgress(view, request.action), read: "member" };
  return isRecreated(view.spec, observation) ? { step: "forget" } : notSeen(view, observation);
}

function decideCheck({ spec: { unchecked, obstacle } }: View): Decision | undefined {
  return unchecked && !obstacle ? { step: "check" } : undefined;
}

function decideUnwanted(view: View, observation: Present): Decision | undefined {
  if (!view.spec.unwanted) return undefined;
  if (view.secrets.previous) return { step: "revoke" };
  if (view.spec.deletionPolicy === "Retain") return { step: "forget" };
  return replacementUnderWay(view) ?? deleteToReplace(view, observation);
}

/** A failed creation is replaced. A failed change is sent again. */
function decideBroken(view: View, observation: Present): Decision | undefined {
  const { broken: why, comparison } = observation;
  if (why === undefined) return undefined;
  const { kind } = view;
  const { request, permanent, unfinished } = view.resource;
  if (request?.action === "replace" && !isDone(request) && request.outcome !== "FAILED")
    return { ...inProgress(view, "replace"), read: "member" };
  const isReplaced = unfinished || request?.action === "replace";
  if (isReplaced && !permanent) return deleteToReplace(view, observation);
  if (request) return failed(view, { ...request, message: why }, false);
  if (comparison?.next) return { step: "update", operation: comparison.next };
  const message = `${kind} failed on the platform: ${why}. Check it there. To give it up, delete the object, which deletes the ${kind} and what it holds; deletionPolicy: Retain keeps it`;
  return { step: "stall", reason: "ProvisioningFailed", message, recheckMs: RECHECK_MS * 15 };
}

function upToDate({ times: { annotateAt, now }, secrets: { output } }: View): Decision {
  const obstacle = typeof output === "object" ? output.obstacle : undefined;
  return { step: "rest", keep: annotateAt !== undefined && annotateAt <= now, ...(obstacle && { obstacle }) };
}

function upToDateOrDrifted(view: View, { comparison }: Present): Decision {
  if (!comparison) return view.spec.obstacle ? blockedBy(view.spec.obstacle) : upToDate(view);
  const [first] = comparison.drift;
  return first ? { step: "stall", reason: "Drifted", message: driftInWords(first) } : upToDate(view);
}

/**
 * The object is not Ready without its Secret. A lost key is renewed only after a read by name; a key that Mooring did not
 * make, only on request. No attempt is repeated before its pause is over. `check` is the lookup that must come before the
 * Secret is written.
 */
function decideSecret(view: View, check: Decision | undefined): Decision | undefined {
  const { secret, repair, keyDueAt, othersKey } = view.secrets;
  const { now, platformNow } = view.times;
  const isKeyDue = keyDueAt !== undefined && keyDueAt <= platformNow;
  const isEarly = repair !== undefined && now < repair.at;
  switch (secret) {
    case undefined:
      return undefined;
    case "unknown":
      return UNREAD;
    case "unread":
      return { step: "publish" };
    case "missing":
      if (othersKey) return isKeyDue ? renewal(view) : undefined;
      return isEarly ? secretChanged(view) : renewal(view);
    case "outdated":
      if (isKeyDue) return renewal(view);
      return check ?? (isEarly ? secretChanged(view) : { step: "publish" });
    case "unmarked":
    case "current":
      if (isKeyDue) return renewal(view);
      return secret === "current" || isEarly ? undefined : { step: "publish" };
  }
}

/** The Secret was changed again soon after its repair: the next repair waits. */
function secretChanged({ secrets: { repair }, times: { now } }: View): Decision {
  const message = `${repair?.why ?? "the Secret is not as it was written"}; it is put right after a pause, which grows each time: find out who changes it`;
  return { step: "wait", reason: "SecretChanged", message, recheckMs: (repair?.at ?? now) - now };
}

function decidePrevious({ secrets: { previous } }: View): Decision | undefined {
  return nextStep({ previous, isDue: false }) === "revoke" ? { step: "revoke" } : undefined;
}

const UNREAD: Decision = {
  step: "wait",
  reason: "Observing",
  message: "waiting for the first read of Secrets and ConfigMaps",
  recheckMs: RECHECK_MS,
};

/** The output is written before the object is Ready, and after all writes to the platform. */
function decideOutput({ secrets: { output }, times: { now } }: View): Decision | undefined {
  if (output === "unknown") return UNREAD;
  return output && output.dueAt <= now ? { step: "output" } : undefined;
}
