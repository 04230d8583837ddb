import type { Comparison, Operation } from "../kinds/kind.ts";
import type { Claim, Intent } from "./intent.ts";
import type { Reason } from "./reasons.ts";

/** Something that keeps the object from going on; `stalled` when no waiting will mend it. */
export interface Obstacle {
  reason: Reason;
  message: string;
  stalled: boolean;
}

/** What the platform side knows of the claimed resource. */
export type Observation =
  /** No read of it that counts. */
  | { seen: "unknown" }
  /** A read says that it is not there; `confirmed` when it was looked for by its id as well. */
  | { seen: "absent"; asOf: number; confirmed: boolean }
  | { seen: "present"; asOf: number; busy: boolean; state: string; comparison: Comparison | undefined };

/** The request that status speaks of, with what the platform last said about it. */
export interface PendingRequest {
  action: string;
  since: number;
  outcome: "unknown" | "BUSY" | "DONE" | "FAILED";
  message?: string;
}

/** What a search for the result of an open intent found. */
export interface Search {
  lookedAt: number;
  /** Ids that match and that no object claims. */
  matches: string[];
  /** How many open intents, this one included, have the same body and parents; this one's place among them. */
  rivals: number;
  rank: number;
  /** A POST with the same body is under way at this moment. */
  inFlight: boolean;
}

/** An attempt that the platform refused or failed at. */
export interface Failure {
  reason: Reason;
  message: string;
  /** The same attempt is made again when this has passed, or when spec changes. */
  retryAt: number;
}

/** Everything a decision rests on: data only, taken from both caches at one moment. */
export interface View {
  now: number;
  noun: string;
  deleting: boolean;
  paused: boolean;
  hasFinalizer: boolean;
  deletionPolicy: "Delete" | "Retain";
  intent: Intent | undefined;
  /** The POST of the open intent was certainly not executed. */
  unsent: boolean;
  claim: Claim | undefined;
  request: PendingRequest | undefined;
  /** What keeps the platform as a whole out of reach: the Account. */
  accountObstacle: Obstacle | undefined;
  /** What keeps spec from being turned into a body: references, Secrets, values. */
  specObstacle: Obstacle | undefined;
  observation: Observation;
  search: Search | undefined;
  failure: Failure | undefined;
  /** From the intent on, a creation may still be executed (deadline) and become visible (settle) for so long. */
  unsettledMs: number;
}

export type Decision =
  /** Nothing of ours. */
  | { step: "ignore" }
  /** As wanted. */
  | { step: "rest" }
  /** The platform or another object has to move first. */
  | { step: "wait"; reason: Reason; message: string; look?: Look; recheckMs?: number }
  /** Somebody has to change something; `retryMs` when time may help as well. */
  | { step: "stall"; reason: Reason; message: string; retryMs?: number }
  /** The request failed: write it down, then try again later. */
  | { step: "fail"; reason: Reason; message: string; gone: boolean }
  | { step: "create" }
  /** Look for what an open intent made. */
  | { step: "search" }
  | { step: "claim"; id: string }
  /** The resource is gone without us: let go of its id. */
  | { step: "forget" }
  | { step: "update"; operation: Operation }
  | { step: "delete" }
  | { step: "release"; reason: Reason; message: string };

/** What to ask the platform side for while waiting: a fresh list, or this very member and its request. */
export type Look = "list" | "member";

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
  if (view.claim) return decideClaimed(view);
  return decideCreation(view);
}

function decideCreation(view: View): Decision {
  return afterFailure(view) ?? (view.specObstacle ? obstructed(view.specObstacle) : { step: "create" });
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
  const { intent, search, now, noun } = view;
  if (!intent || view.unsent) return otherwise;
  if (!search) return { step: "search" };
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
  const settled = Date.parse(intent.at) + view.unsettledMs;
  if (!search.inFlight && search.lookedAt >= settled) return otherwise;
  if (now - search.lookedAt >= RECHECK_MS) return { step: "search" };
  return {
    step: "wait",
    reason: "Recovering",
    message: `the creation of the ${noun} ended without an answer; looking for it until ${new Date(settled).toISOString()}`,
    recheckMs: RECHECK_MS,
  };
}

const RECHECK_MS = 2000;

function decideClaimed(view: View): Decision {
  const { observation, request, noun } = view;
  switch (observation.seen) {
    case "unknown":
      return { step: "wait", reason: "Observing", message: `waiting for a first look at the ${noun}`, look: "list" };
    case "absent":
      return decideAbsent(view, observation);
    case "present": {
      if (observation.busy) return underWay(view, request?.action ?? "update");
      if (request && observation.asOf <= request.since) return underWay(view, request.action);
      const next = observation.comparison?.next;
      if (!next) return settledOrDrifted(view, observation);
      if (request && request.action !== "create") {
        if (request.outcome === "FAILED") return failed(view, request, false);
        if (request.outcome !== "DONE") return { ...underWay(view, request.action), look: "member" };
      }
      return afterFailure(view) ?? { step: "update", operation: next };
    }
  }
}

function settledOrDrifted(view: View, { comparison }: Extract<Observation, { seen: "present" }>): Decision {
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
  if (request?.outcome === "FAILED") return failed(view, request, true);
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
  if (view.deletionPolicy === "Retain") {
    return { step: "release", reason: "Retained", message: `the ${noun} ${claim?.id ?? ""} stays on the platform` };
  }
  if (!intent && !claim) return nothing;
  if (view.accountObstacle) return obstructed(view.accountObstacle);
  if (intent) return decideRecovery(view, nothing);
  switch (observation.seen) {
    case "unknown":
      return { step: "wait", reason: "Deleting", message: `waiting for a look at the ${noun}`, look: "list" };
    case "present":
      if (request?.action === "delete") {
        if (observation.busy || observation.asOf <= request.since) return underWay(view, "delete");
        if (request.outcome === "FAILED") return failed(view, request, false);
        if (request.outcome !== "DONE") return { ...underWay(view, "delete"), look: "member" };
      }
      if (observation.busy) return underWay(view, request?.action ?? "update");
      return afterFailure(view) ?? { step: "delete" };
    case "absent": {
      const gone: Decision = { step: "release", reason: "Deleted", message: `the ${noun} ${claim?.id} is gone` };
      if (request?.outcome === "FAILED") return request.action === "create" ? gone : failed(view, request, false);
      if (request && request.outcome !== "DONE") return { ...underWay(view, request.action), look: "member" };
      if (request?.action === "delete") return gone;
      // A creation that is done but not visible yet must be seen before it can be deleted.
      const fresh = request?.action === "create" && observation.asOf < request.since + view.unsettledMs;
      if (!observation.confirmed || fresh) return { ...underWay(view, request?.action ?? "delete"), look: "member" };
      return gone;
    }
  }
}
