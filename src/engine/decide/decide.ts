import type { View } from "../observe/view.ts";
import { mayBeHidden } from "../state/presence.ts";
import { nextStep } from "../state/succession.ts";
import type { Reason } from "../status/reasons.ts";
import { type Absent, awaitingDeletion, isRecreated, notSeen } from "./absence.ts";
import type { Decision } from "./decision.ts";
import {
  decideDeletion,
  decideReplacement,
  deleteToReplace,
  lackOfEvidence,
  type Present,
  renewal,
  replacementUnderWay,
} from "./deletion.ts";
import { decideRecovery, decideUnanswered } from "./recovery.ts";
import { repetition } from "./repeated-write.ts";
import {
  afterFailure,
  awaitingFirstRead,
  blockedBy,
  busyWithOthers,
  failed,
  inProgress,
  isDone,
  RECHECK_MS,
} from "./waiting.ts";

/**
 * The next step for one object. Pure: the same view gives the same decision. Guarantees that hold for every view:
 * a creation only when no intent is open, or when the open one is past its window and a later search found nothing;
 * a deletion only of what is claimed, on a reading that is younger than the wish; nothing is sent to the platform when
 * paused, or before the pause after a failure is over; always a step or a reason.
 */
export function decide(view: View): Decision {
  return withGuarantees(view, choose(view));
}

/** What holds for every step, whatever led to it. */
function withGuarantees(view: View, step: Decision): Decision {
  const { claim, intent, observation, deleting } = view;
  // Without the finalizer the object would go and leave its resource, without its intent a creation would be forgotten.
  const unmarked = view.hasFinalizer ? intent && !view.recorded : (claim || intent) && !deleting;
  if (unmarked) return { step: "mark" };
  if (view.terminating && !deleting && createsSomething(step)) {
    const message = "the namespace is being deleted: nothing is created or renewed in it";
    return { step: "wait", reason: "NamespaceTerminating", message };
  }
  if (view.ungranted && !deleting && (createsSomething(step) || addsSomething(step))) return blockedBy(view.ungranted);
  const waits = step.step === "wait" || step.step === "stall";
  if (waits && PASSING.includes(step.reason) && !claim && view.now < view.graceUntil) {
    return { ...step, step: "wait", reason: "Observing", recheckMs: view.graceUntil - view.now };
  }
  const pause = callsPlatform(step) ? afterFailure(view) : undefined;
  if (pause) return pause;
  const repeated = step.step === "update" ? repetition(view, step.operation) : undefined;
  if (repeated) return repeated;
  const evidence = step.step === "revoke" ? view.previous : observation.seen === "present" ? observation : undefined;
  return (evidence && endsSomething(step) ? lackOfEvidence(view, evidence) : undefined) ?? step;
}

/** Reasons that a young object is not bothered with. */
const PASSING: readonly Reason[] = [
  "ReferenceNotFound",
  "ReferenceNotReady",
  "ReferenceNotGranted",
  "AccountNotFound",
  "AccountNotReady",
];

const CALLS: ReadonlySet<Decision["step"]> = new Set([
  "check",
  "create",
  "adopt",
  "inspect",
  "search",
  "update",
  "renew",
  "publish",
  "revoke",
  "recall",
  "deliver",
  "delete",
]);

/** Whether a step asks something of the platform for this object alone. */
const callsPlatform = (step: Decision): boolean => CALLS.has(step.step) || ("look" in step && step.look === "member");

const BEGINS: ReadonlySet<Decision["step"]> = new Set(["create", "adopt", "renew", "publish", "output", "delete"]);

/** Whether a step makes something that has to be kept in the namespace. A deletion there is the first half of a replacement. */
const createsSomething = ({ step }: Decision): boolean => BEGINS.has(step);

/** Whether a step changes a resource other than by taking something away. */
const addsSomething = (step: Decision): boolean => step.step === "update" && step.operation.method !== "DELETE";

/** Whether a step ends something that cannot be brought back, or looks inside it right before. */
const endsSomething = (step: Decision): boolean =>
  ["inspect", "delete", "renew", "revoke"].includes(step.step) ||
  (step.step === "update" && step.operation.method === "DELETE");

function choose(view: View): Decision {
  if (view.deleting && !view.hasFinalizer) return { step: "ignore" };
  if (view.paused) return { step: "pause" };
  if (view.deleting) return decideDeletion(view);
  if (view.unknownKey)
    return { step: "stall", reason: "SigningKeyUnknown", message: unknownKeyOf(view.kind, view.unknownKey) };
  const blocked = view.accountObstacle;
  if (blocked) return blockedBy(blocked);
  if (view.intent) return decideRecovery(view, view.intent.succeeds ? { step: "retract" } : decideCreation(view));
  if (view.claim) return view.observed ? decideObserved(view) : decideClaimed(view);
  if (view.adopt !== undefined && (view.observed || !view.unwanted)) {
    return view.specObstacle ? blockedBy(view.specObstacle) : { step: "adopt", id: view.adopt };
  }
  return decideCreation(view);
}

function unknownKeyOf(kind: string, { id }: NonNullable<View["unknownKey"]>): string {
  const what = id === undefined ? `has begun to create a ${kind}` : `owns ${kind} ${id}`;
  const again = id === undefined ? "with externalId if one was made" : `with externalId: ${id}`;
  return `the object ${what}, signed with a key that this operator does not have: restore Secret mooring-signing-key; without it, delete the object, which keeps the ${kind} on the platform, and create it again ${again}`;
}

/** Only shown: whatever differs is drift and stays. */
function decideObserved(view: View): Decision {
  const { observation } = view;
  switch (observation.seen) {
    case "unknown":
      return awaitingFirstRead(view);
    case "absent":
      return notSeen(view, observation);
    case "present":
      return observation.busy ? busyWithOthers(view) : (decideOutput(view) ?? upToDate(view));
  }
}

function decideCreation(view: View): Decision {
  if (view.observed) {
    return { step: "stall", reason: "InvalidSpec", message: "managementPolicy Observe needs spec.externalId" };
  }
  if (view.specObstacle) return blockedBy(view.specObstacle);
  if (view.unchecked) return { step: "check" };
  if (view.unwanted) return { step: view.previous ? "revoke" : "idle" };
  if (view.unlisted) return awaitingFirstRead(view);
  return view.permanent ? { step: "adopt" } : { step: "create" };
}

function decideClaimed(view: View): Decision {
  const { observation, request } = view;
  switch (observation.seen) {
    case "unknown":
      return awaitingFirstRead(view);
    case "absent":
      return decideAbsent(view, observation);
    case "present": {
      if (observation.busy) return request ? inProgress(view, request.action) : busyWithOthers(view);
      if (request && observation.asOf <= request.since) {
        // A write whose address is not known tells nothing by itself: only a later look does.
        return { ...inProgress(view, request.action), ...(request.outcome === "unanswered" && { look: "list" }) };
      }
      if (request?.outcome === "unanswered") return decideUnanswered(view, request);
      if (view.unwanted) return decideUnwanted(view, observation);
      if (view.replacement) return decideReplacement(view, view.replacement, observation);
      if (observation.broken !== undefined) return decideBroken(view, observation, observation.broken);
      const next = observation.comparison?.next;
      if (!next) {
        return (
          decideSecret(view) ??
          decideCheck(view) ??
          decidePrevious(view) ??
          decideOutput(view) ??
          upToDateOrDrifted(view, observation)
        );
      }
      if (request && request.action !== "create") {
        if (request.outcome === "FAILED") return failed(view, request, false);
        if (request.outcome !== "DONE") return { ...inProgress(view, request.action), look: "member" };
        // What is done may take a while to be seen.
        if (request.unseen && mayBeHidden(request.since, observation.asOf, view.believedMs)) {
          return { ...inProgress(view, request.action), look: "member" };
        }
      }
      return { step: "update", operation: next };
    }
  }
}

function decideAbsent(view: View, observation: Absent): Decision {
  const { request } = view;
  if (request?.action === "replace") {
    if (request.outcome === "DONE") return { step: "forget" };
    return request.outcome === "FAILED" ? failed(view, request, false) : awaitingDeletion(view, "replace");
  }
  if (request?.outcome === "FAILED") return failed(view, request, request.action === "create");
  if (request && request.outcome !== "DONE") return inProgress(view, request.action);
  // What is done may take a while to be seen.
  if (request && observation.absence !== "deleted" && mayBeHidden(request.since, observation.asOf, view.believedMs))
    return { ...inProgress(view, request.action), look: "member" };
  return isRecreated(view, observation) ? { step: "forget" } : notSeen(view, observation);
}

const isKeyDue = ({ keyDueAt, platformNow }: View): boolean => keyDueAt !== undefined && keyDueAt <= platformNow;

/**
 * Workloads need the Secret: without it, nothing is ready. A key of somebody else's making is not ended, and one that is lost is
 * made anew only when a read by name has proved that. No attempt is repeated before its pause is over.
 */
function decideSecret(view: View): Decision | undefined {
  const { secret, repair, now } = view;
  const isEarly = repair !== undefined && now < repair.at;
  switch (secret) {
    case undefined:
      return undefined;
    case "unknown":
      return UNREAD;
    case "unread":
      return { step: "publish" };
    case "missing":
      if (view.othersKey) return isKeyDue(view) ? renewal(view) : undefined;
      return isEarly ? secretChanged(view) : renewal(view);
    case "outdated":
      if (isKeyDue(view)) return renewal(view);
      return decideCheck(view) ?? (isEarly ? secretChanged(view) : { step: "publish" });
    case "unmarked":
    case "current":
      if (isKeyDue(view)) return renewal(view);
      return secret === "current" || isEarly ? undefined : { step: "publish" };
  }
}

/** The Secret was changed again soon after it was put right: the next attempt has to wait for its turn. */
function secretChanged({ repair, now }: View): Decision {
  const message = `${repair?.why ?? "the Secret is not as it was written"}; it is put right after a pause, which grows each time: find out who changes it`;
  return { step: "wait", reason: "SecretChanged", message, recheckMs: (repair?.at ?? now) - now };
}

/** Nothing that runs out waits for a catalogue. */
const decideCheck = ({ unchecked, specObstacle }: View): Decision | undefined =>
  unchecked && !specObstacle ? { step: "check" } : undefined;

/** Spec asks for none any more. */
function decideUnwanted(view: View, observation: Present): Decision {
  if (view.previous) return { step: "revoke" };
  if (view.deletionPolicy === "Retain") return { step: "forget" };
  return replacementUnderWay(view) ?? deleteToReplace(view, observation);
}

/** The one before has had its time. */
const decidePrevious = ({ previous }: View): Decision | undefined =>
  nextStep({ previous, isDue: false }) === "revoke" ? { step: "revoke" } : undefined;

const UNREAD: Decision = {
  step: "wait",
  reason: "Observing",
  message: "waiting for the first read of Secrets and ConfigMaps",
  recheckMs: RECHECK_MS,
};

/** What workloads are to know is written before anything is called ready. The platform never waits for it. */
function decideOutput({ output, now }: View): Decision | undefined {
  if (output === "unknown") return UNREAD;
  return output && output.dueAt <= now ? { step: "output" } : undefined;
}

/** It is there and does not work. What was never finished is made anew; else the last write is repeated, if there is one. */
function decideBroken(view: View, observation: Present, why: string): Decision {
  const { request, kind, permanent } = view;
  if (request?.action === "replace" && !isDone(request) && request.outcome !== "FAILED")
    return { ...inProgress(view, "replace"), look: "member" };
  const anew = view.unfinished || request?.action === "replace";
  if (anew && !permanent) return deleteToReplace(view, observation);
  if (request) return failed(view, { ...request, message: why }, false);
  const next = observation.comparison?.next;
  if (next) return { step: "update", operation: next };
  const message = `${kind} failed on the platform: ${why}. Delete the object and create it again`;
  return { step: "stall", reason: "ProvisioningFailed", message, retryMs: RECHECK_MS * 15 };
}

function upToDate({ annotateAt, now, output }: View): Decision {
  const obstacle = typeof output === "object" ? output.obstacle : undefined;
  return { step: "rest", keep: annotateAt !== undefined && annotateAt <= now, ...(obstacle && { obstacle }) };
}

function upToDateOrDrifted(view: View, { comparison }: Present): Decision {
  if (!comparison) return view.specObstacle ? blockedBy(view.specObstacle) : upToDate(view);
  const [first] = comparison.drift;
  if (!first) return upToDate(view);
  return {
    step: "stall",
    reason: "Drifted",
    message: `${first.field} is ${first.found || "empty"} on the platform, not ${first.wanted || "empty"}, and cannot be changed in place: delete the object and create it again, or change spec`,
  };
}
