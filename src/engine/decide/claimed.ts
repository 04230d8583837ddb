import type { View } from "../observe/view.ts";
import { mayBeHidden } from "../state/presence.ts";
import { type Absent, awaitingDeletion, isRecreated, notSeen } from "./absence.ts";
import type { Decision } from "./decision.ts";
import { decideReplacement, deleteToReplace, type Present, replacementUnderWay } from "./deletion.ts";
import { decideOutput, decidePrevious, decideSecret } from "./published.ts";
import { decideUnanswered } from "./recovery.ts";
import { awaitingFirstRead, blockedBy, busyWithOthers, failed, inProgress, isDone, RECHECK_MS } from "./waiting.ts";

/** Only shown: whatever differs is drift and stays. */
export function decideObserved(view: View): Decision {
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

/** The object has a resource, and keeps it in the state of spec. */
export function decideClaimed(view: View): Decision {
  const { observation } = view;
  switch (observation.seen) {
    case "unknown":
      return awaitingFirstRead(view);
    case "absent":
      return decideAbsent(view, observation);
    case "present":
      for (const rule of Object.values(present)) {
        const decision = rule(view, observation);
        if (decision) return decision;
      }
      return upToDateOrDrifted(view, observation);
  }
}

/** The rules for a resource that is there, in this order. The last one, without a condition, is `upToDateOrDrifted`. */
const present = {
  /** The platform is at work on it: nothing is sent meanwhile. */
  busy: (view, { busy }) => {
    if (!busy) return undefined;
    return view.request ? inProgress(view, view.request.action) : busyWithOthers(view);
  },
  /** The reading is older than the last write, and does not show what it did. */
  readBeforeWrite: (view, { asOf }) => {
    const { request } = view;
    if (!request || asOf > request.since) return undefined;
    // A write whose address is not known tells nothing by itself: only a later read does.
    return { ...inProgress(view, request.action), ...(request.outcome === "unanswered" && { look: "list" }) };
  },
  /** The last write got no answer: find out what became of it. */
  unanswered: (view) => (view.request?.outcome === "unanswered" ? decideUnanswered(view, view.request) : undefined),
  /** Spec asks for no resource any more. */
  unwanted: (view, observation) => (view.unwanted ? decideUnwanted(view, observation) : undefined),
  /** A field has changed that the platform cannot change. */
  replacement: (view, observation) => view.replacement && decideReplacement(view, view.replacement, observation),
  /** It is there and does not work. */
  broken: (view, observation) =>
    observation.broken === undefined ? undefined : decideBroken(view, observation, observation.broken),
  /** Something differs that the platform can change. */
  change: (view, observation) => (observation.comparison?.next ? decideChange(view, observation) : undefined),
  /** Workloads need their Secret. */
  secret: (view) => decideSecret(view, decideCheck(view)),
  /** Spec names something of a catalogue that was not looked up yet. */
  catalogue: (view) => decideCheck(view),
  /** The token before the present one has had its time. */
  previous: (view) => decidePrevious(view),
  /** Workloads read ids and addresses in the Secret or ConfigMap of spec.output. */
  output: (view) => decideOutput(view),
} satisfies Record<string, (view: View, observation: Present) => Decision | undefined>;

/** One write at a time: the next one is sent when the last one is over and can be seen. */
function decideChange(view: View, { asOf, comparison }: Present): Decision | undefined {
  const { request } = view;
  if (request && request.action !== "create") {
    if (request.outcome === "FAILED") return failed(view, request, false);
    const isHidden = request.unseen && mayBeHidden(request.since, asOf, view.believedMs);
    if (request.outcome !== "DONE" || isHidden) return { ...inProgress(view, request.action), look: "member" };
  }
  return comparison?.next && { step: "update", operation: comparison.next };
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

/** Nothing that runs out waits for a catalogue. */
const decideCheck = ({ unchecked, specObstacle }: View): Decision | undefined =>
  unchecked && !specObstacle ? { step: "check" } : undefined;

/** Spec asks for none any more. */
function decideUnwanted(view: View, observation: Present): Decision {
  if (view.previous) return { step: "revoke" };
  if (view.deletionPolicy === "Retain") return { step: "forget" };
  return replacementUnderWay(view) ?? deleteToReplace(view, observation);
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
  const message = `${kind} failed on the platform: ${why}. Check it there. To give it up, delete the object, which deletes the ${kind} and what it holds; deletionPolicy: Retain keeps it`;
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
    message: `${first.field} is ${first.found || "empty"} on the platform, not ${first.wanted || "empty"}, and cannot be changed in place: change spec to what is there`,
  };
}
