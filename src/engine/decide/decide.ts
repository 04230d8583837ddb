import type { Observation, PendingRequest, View } from "../look/view.ts";
import type { Obstacle, Reason } from "../schema/reasons.ts";
import type { Decision } from "./decision.ts";

/**
 * The next step for one object. Pure: the same view gives the same decision. Guarantees that hold for every view:
 * a creation only when no intent is open, or when the open one is past its window and a later search found nothing;
 * a deletion only of what is claimed; no write when paused; always a step or a reason.
 */
export function decide(view: View): Decision {
  if (view.deleting && !view.hasFinalizer) return { step: "ignore" };
  if (view.paused)
    return { step: "wait", reason: "Paused", message: "paused: remove the annotation mooring.dev/paused to go on" };
  if (view.deleting) return decideDeletion(view);
  const blocked = view.accountObstacle;
  if (blocked) return obstructed(blocked);
  if (view.intent) return decideRecovery(view, decideCreation(view));
  if (view.claim) return view.observed ? decideObserved(view) : decideClaimed(view);
  if (view.adopt !== undefined) {
    return (
      afterFailure(view) ?? (view.specObstacle ? obstructed(view.specObstacle) : { step: "adopt", id: view.adopt })
    );
  }
  return decideCreation(view);
}

/** Only shown: whatever differs is drift and stays. */
function decideObserved(view: View): Decision {
  const { observation, noun, claim } = view;
  switch (observation.seen) {
    case "unknown":
      return { step: "wait", reason: "Observing", message: `waiting for a first look at the ${noun}`, look: "list" };
    case "absent":
      if (!observation.confirmed) return { ...underWay(view, "update"), look: "member" };
      return { step: "stall", reason: "Vanished", message: `the ${noun} ${claim?.id} is no longer on the platform` };
    case "present":
      return observation.busy ? busyWithOthers(view) : { step: "rest" };
  }
}

function decideCreation(view: View): Decision {
  if (view.observed) {
    return { step: "stall", reason: "InvalidSpec", message: "managementPolicy Observe needs spec.externalId" };
  }
  const begin: Decision = view.permanent ? { step: "adopt" } : { step: "create" };
  return afterFailure(view) ?? (view.specObstacle ? obstructed(view.specObstacle) : begin);
}

function obstructed({ reason, message, stalled }: Obstacle): Decision {
  return stalled ? { step: "stall", reason, message } : { step: "wait", reason, message };
}

/** A failed attempt stands until its time has come. */
function afterFailure({ failure, now }: View): Decision | undefined {
  if (!failure || failure.retryAt <= now) return undefined;
  return { step: "stall", reason: failure.reason, message: failure.message, retryMs: failure.retryAt - now };
}

/** An open intent without an id: look, do not guess. `otherwise` is what to do once it is certain that nothing was made. */
function decideRecovery(view: View, otherwise: Decision): Decision {
  const { intent, search, now, noun, settledAt } = view;
  if (!intent || view.unsent) return otherwise;
  // An old look says nothing about who owns what by now.
  if (!search || now - search.endedAt >= FRESH_MS) return { step: "search" };
  if (search.matches.length > search.rivals) {
    const ids = search.matches.join(", ");
    return {
      step: "stall",
      reason: "Ambiguous",
      message: `an interrupted creation left ${search.matches.length} matching ${noun}s, more than were asked for: ${ids}. Delete the surplus ones`,
      retryMs: RECHECK_MS * 15,
    };
  }
  const mine = search.inFlight ? undefined : search.matches[search.rank];
  if (mine !== undefined) return { step: "claim", id: mine };
  if (!search.inFlight && !search.pending && search.lookedAt >= settledAt) {
    // Everything is visible by now: what is left over is as good as any.
    const [left] = search.matches;
    return left === undefined ? otherwise : { step: "claim", id: left };
  }
  if (now - search.endedAt >= RECHECK_MS) return { step: "search" };
  return {
    step: "wait",
    reason: "Recovering",
    message: `the creation of the ${noun} ended without an answer; looking for it until ${new Date(settledAt).toISOString()}`,
    recheckMs: RECHECK_MS,
  };
}

const RECHECK_MS = 2000;
const FRESH_MS = 5000;

/** Where ids are given away again, the request alone tells whether what is seen is still ours. */
function decideByRequest(view: View, goneBy: { creation: Decision; deletion: Decision }): Decision | undefined {
  const { reusesIds, request, observation } = view;
  if (!reusesIds || !request) return undefined;
  const leaving = request.action === "delete" || request.action === "replace";
  switch (request.outcome) {
    case "unanswered":
      return observation.seen === "present" ? { step: "recall" } : undefined;
    case "unknown":
    case "BUSY":
      return { ...underWay(view, request.action), look: "member" };
    case "FAILED":
      return request.action === "create" ? goneBy.creation : undefined;
    case "DONE":
      if (leaving) return goneBy.deletion;
      // What a look before that has shown may be the one before.
      return observation.seen === "present" && observation.asOf <= request.since
        ? { ...underWay(view, request.action), look: "list" }
        : undefined;
  }
}

function decideClaimed(view: View): Decision {
  const { observation, request, noun } = view;
  const told =
    request && decideByRequest(view, { creation: failed(view, request, true), deletion: { step: "forget" } });
  if (told) return told;
  switch (observation.seen) {
    case "unknown":
      return { step: "wait", reason: "Observing", message: `waiting for a first look at the ${noun}`, look: "list" };
    case "absent":
      return decideAbsent(view, observation);
    case "present": {
      if (observation.busy) return request ? underWay(view, request.action) : busyWithOthers(view);
      if (request && observation.asOf <= request.since) return { ...underWay(view, request.action), ...soon(request) };
      if (request?.outcome === "unanswered") return { step: "recall" };
      if (view.replacement) return decideReplacement(view, view.replacement, observation);
      if (observation.broken !== undefined) return decideBroken(view, observation, observation.broken);
      const next = observation.comparison?.next;
      if (!next) return decideSecret(view) ?? settledOrDrifted(view, observation);
      if (request && request.action !== "create") {
        if (request.outcome === "FAILED") return failed(view, request, false);
        if (request.outcome !== "DONE") return { ...underWay(view, request.action), look: "member" };
        // What is done may take a while to be seen.
        if (request.unseen && view.now < request.since + view.unsettledMs) {
          return { ...underWay(view, request.action), look: "member" };
        }
      }
      return afterFailure(view) ?? { step: "update", operation: next };
    }
  }
}

/** Workloads need the Secret: without it, nothing is as wanted. A key of somebody else's making is not ended. */
function decideSecret(view: View): Decision | undefined {
  switch (view.secret) {
    case undefined:
      return undefined;
    case "unknown":
      return {
        step: "wait",
        reason: "Observing",
        message: "waiting for a first look at the Secret",
        recheckMs: RECHECK_MS,
      };
    case "missing":
      return view.othersKey && !view.keyDue ? undefined : (afterFailure(view) ?? { step: "renew" });
    case "outdated":
    case "current":
      if (view.keyDue) return afterFailure(view) ?? { step: "renew" };
      return view.secret === "current" ? undefined : (afterFailure(view) ?? { step: "publish" });
  }
}

/** It is there and does not work. What was never finished is made anew; else the last write is repeated, if there is one. */
function decideBroken(view: View, observation: Present, why: string): Decision {
  const { request, noun, permanent } = view;
  const anew = view.unfinished || request?.action === "replace";
  if (anew && !permanent) return afterFailure(view) ?? departure(view, observation);
  if (request) return failed(view, { ...request, message: why }, false);
  const next = observation.comparison?.next;
  if (next) return afterFailure(view) ?? { step: "update", operation: next };
  const message = `the ${noun} has failed on the platform: ${why}. Delete the object and create it again`;
  return { step: "stall", reason: "ProvisioningFailed", message, retryMs: RECHECK_MS * 15 };
}

/** Somebody else changes it, or something inside it: that is no news about this object. */
function busyWithOthers({ noun }: View): Decision {
  return { step: "wait", reason: "Observing", message: `the ${noun} is being changed by somebody else` };
}

/** Deletes what cannot be changed; once it is gone, its place is empty and a creation follows. */
function decideReplacement(
  view: View,
  { fields, why, verdict }: NonNullable<View["replacement"]>,
  observation: Present,
): Decision {
  const { request, noun } = view;
  if (request?.action === "replace") {
    if (request.outcome === "FAILED") return failed(view, request, false);
    if (request.outcome !== "DONE") return { ...underWay(view, "replace"), look: "member" };
  }
  const changed = `${fields.join(", ")} cannot be changed in place and ${fields.length > 1 ? "have" : "has"} changed since the ${noun} was created (${why.join("; ")})`;
  switch (verdict) {
    case "forbidden":
      return {
        step: "stall",
        reason: "ImmutableFieldChanged",
        message: `${changed}: change it back, or set replacePolicy: WhenNeeded`,
      };
    case "losesData":
      return {
        step: "stall",
        reason: "DataLossNotAllowed",
        message: `${changed}; replacing the ${noun} loses its data: set the annotation mooring.dev/allow-data-loss to "true" to allow it, or change it back`,
      };
    case "allowed":
      return afterFailure(view) ?? departure(view, observation);
  }
}

/** The way of a resource that is to be replaced. */
const departure = (view: View, observation: Present): Decision =>
  holding(view) ??
  farewell(view, observation) ??
  (view.permanent ? { step: "forget" } : { step: "delete", action: "replace" });

/** Why a resource may not go yet: something lives in it. */
function holding({ contents, noun }: View): Decision | undefined {
  if (!contents || contents.ignored) return undefined;
  if (contents.leaving.length > 0) {
    const message = `waits until they are gone: ${several(contents.leaving)}`;
    return { step: "wait", reason: "InUse", message, recheckMs: RECHECK_MS };
  }
  if (contents.staying.length === 0 && contents.found === undefined) return { step: "inspect" };
  const held = [...contents.staying, ...(contents.found ?? [])];
  if (held.length === 0) return undefined;
  const message = `the ${noun} ${contents.verb} ${several(held)}: delete them first, or set the annotation mooring.dev/allow-non-empty-delete to "true"`;
  return { step: "stall", reason: "NotEmpty", message, retryMs: RECHECK_MS * 5 };
}

/** What cannot be deleted is left as it was found. */
function partOf({ permanent, noun }: View): Decision {
  if (!permanent) return { step: "delete", action: "delete" };
  return { step: "release", reason: "Retained", message: `the ${noun} is as it was before` };
}

/** What has to be done before the resource may go; one write at a time. */
function farewell(view: View, observation: Present): Decision | undefined {
  if (!observation.farewell) return undefined;
  const { request } = view;
  if (request && observation.asOf <= request.since) return { ...underWay(view, request.action), look: "list" };
  if (request?.outcome === "unanswered") return { step: "recall" };
  if (request?.outcome === "FAILED") return failed(view, request, false);
  if (request && request.outcome !== "DONE") return { ...underWay(view, request.action), look: "member" };
  return { step: "update", operation: observation.farewell };
}

function several(names: string[]): string {
  const shown = names.slice(0, 5).join(", ");
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}

type Present = Extract<Observation, { seen: "present" }>;

/** A write whose address is not known tells nothing by itself: only a later look does. */
const soon = ({ outcome }: PendingRequest): { look?: "list" } => (outcome === "unanswered" ? { look: "list" } : {});

function settledOrDrifted(view: View, { comparison }: Present): Decision {
  if (!comparison) return view.specObstacle ? obstructed(view.specObstacle) : { step: "rest" };
  const [first] = comparison.drift;
  if (!first) return { step: "rest" };
  return {
    step: "stall",
    reason: "Drifted",
    message: `${first.field} is ${first.found || "empty"} on the platform, not ${first.wanted || "empty"}, and cannot be changed in place: delete the object and create it again, or change spec`,
  };
}

function decideAbsent(view: View, observation: Extract<Observation, { seen: "absent" }>): Decision {
  const { request } = view;
  if (request?.action === "replace") {
    if (request.outcome === "DONE") return { step: "forget" };
    return request.outcome === "FAILED"
      ? failed(view, request, false)
      : { ...underWay(view, "replace"), look: "member" };
  }
  if (request?.outcome === "FAILED") return failed(view, request, request.action === "create");
  if (request && request.outcome !== "DONE") return underWay(view, request.action);
  if (!observation.confirmed) return { ...underWay(view, request?.action ?? "update"), look: "member" };
  // A finished creation that cannot be seen yet is given the same time as one that got no answer.
  if (request && observation.asOf < request.since + view.unsettledMs)
    return { ...underWay(view, request.action), look: "member" };
  return { step: "forget" };
}

function failed(view: View, request: PendingRequest, gone: boolean): Decision {
  const why = request.message ?? "the platform gave no reason";
  const quota = /quota|limit|exceed/i.test(why);
  return {
    step: "fail",
    reason: quota ? "QuotaExceeded" : "ProvisioningFailed",
    message: `${request.action} of the ${view.noun} failed: ${why}`,
    gone,
  };
}

const GERUND: Record<string, { reason: Reason; doing: string }> = {
  create: { reason: "Creating", doing: "creating" },
  delete: { reason: "Deleting", doing: "deleting" },
  replace: { reason: "Replacing", doing: "deleting, to create it again," },
};

/** What a person reads while the platform works on a request. */
export function underWay({ noun }: Pick<View, "noun">, action: string): Extract<Decision, { step: "wait" }> {
  const { reason, doing } = GERUND[action] ?? { reason: "Updating", doing: `changing (${action})` };
  return { step: "wait", reason, message: `the platform is ${doing} the ${noun}` };
}

/** Works from the claim or the intent alone, whatever has become of spec and its references. */
function decideDeletion(view: View): Decision {
  const { noun, claim, intent, observation, request } = view;
  const nothing: Decision = { step: "release", reason: "Deleted", message: `there is no ${noun} to delete` };
  if (view.deletionPolicy === "Retain" || view.observed) {
    return { step: "release", reason: "Retained", message: `the ${noun} ${claim?.id ?? ""} stays on the platform` };
  }
  if (!intent && !claim) return nothing;
  if (view.accountObstacle) return obstructed(view.accountObstacle);
  if (intent) return decideRecovery(view, nothing);
  const gone: Decision = { step: "release", reason: "Deleted", message: `the ${noun} ${claim?.id} is gone` };
  const told = decideByRequest(view, { creation: gone, deletion: gone });
  if (told) return told;
  switch (observation.seen) {
    case "unknown":
      return { step: "wait", reason: "Deleting", message: `waiting for a look at the ${noun}`, look: "list" };
    case "present":
      if (request?.action === "delete" || request?.action === "replace") {
        if (observation.busy || observation.asOf <= request.since) return underWay(view, "delete");
        if (request.outcome === "FAILED") return failed(view, request, false);
        if (request.outcome !== "DONE") return { ...underWay(view, "delete"), look: "member" };
      }
      if (observation.busy) return underWay(view, request?.action ?? "update");
      return afterFailure(view) ?? holding(view) ?? farewell(view, observation) ?? partOf(view);
    case "absent": {
      if (request?.outcome === "FAILED") return request.action === "create" ? gone : failed(view, request, false);
      if (request && request.outcome !== "DONE") return { ...underWay(view, request.action), look: "member" };
      if (request?.action === "delete" || request?.action === "replace") return gone;
      // A creation that is done but not visible yet must be seen before it can be deleted.
      const fresh = request?.action === "create" && observation.asOf < request.since + view.unsettledMs;
      if (!observation.confirmed || fresh) return { ...underWay(view, request?.action ?? "delete"), look: "member" };
      return gone;
    }
  }
}
