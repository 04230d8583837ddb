import type { Observation, View } from "../observe/view.ts";
import { mayBeHidden } from "../state/presence.ts";
import { nextStep } from "../state/succession.ts";
import { awaitingDeletion, awaitingProof, isReleasable } from "./absence.ts";
import type { Decision } from "./decision.ts";
import { decideRecovery, decideUnanswered } from "./recovery.ts";
import { awaitingFirstRead, blockedBy, failed, inProgress, isDone, RECHECK_MS, several } from "./waiting.ts";

export type Present = Extract<Observation, { seen: "present" }>;

/** Retry interval while an answer cannot be understood. */
const UNCLEAR_MS = 10_000;

const PATIENCE_MS = 5000;

/**
 * What cannot be brought back is sent only on what was read after it was wished for, was understood, and shows what else
 * would go. Undefined when the last reading will do.
 */
export function lackOfEvidence(view: View, { asOf, unclear }: Pick<Present, "asOf" | "unclear">): Decision | undefined {
  const { now, kind, deleting, desiredSince } = view;
  if (asOf <= desiredSince) {
    // A look is there in a moment, and not worth a write of its own.
    const reason = deleting && now - desiredSince > PATIENCE_MS ? "Deleting" : "Observing";
    return { step: "wait", reason, message: `waiting for a fresh read of the ${kind}`, look: "list" };
  }
  if (unclear === undefined) return undefined;
  const due = asOf + UNCLEAR_MS - now;
  return {
    step: "wait",
    reason: "PlatformUnavailable",
    message: `${unclear}; nothing is deleted until it is known what would be deleted with the ${kind}${deleting ? "; to keep it on the platform, set deletionPolicy: Retain" : ""}`,
    ...(due > 0 ? { recheckMs: due } : { look: "list", recheckMs: UNCLEAR_MS }),
  };
}

/** Why a resource may not go yet: something lives in it. What was seen inside counts if it was seen after the resource itself. */
function blockedByContents({ contents, kind, deleting }: View, { asOf }: Present): Decision | undefined {
  if (!contents || (contents.ignored && !contents.guests)) return undefined;
  if (contents.leaving.length > 0) {
    const message = `waiting for the deletion of ${several(contents.leaving)}`;
    return { step: "wait", reason: deleting ? "Deleting" : "Replacing", message, recheckMs: RECHECK_MS };
  }
  const { staying, found } = contents;
  if (staying.length === 0 && (found === undefined || found.asOf < asOf)) return { step: "inspect" };
  const held = [...staying, ...(found?.names ?? [])];
  if (held.length === 0) return undefined;
  const ways = deleting
    ? "to keep all of it on the platform, set deletionPolicy: Retain; else"
    : "to keep all of it, change spec back; else";
  const way = contents.guests
    ? "ask the owners in the other namespaces to delete theirs, which no annotation does from here"
    : `delete those first, which loses their data unless they have deletionPolicy: Retain, or set the annotation mooring.dev/allow-non-empty-delete to "true", which deletes what is inside as well`;
  const message = `${kind} ${contents.verb} ${several(held)}: ${ways} ${way}`;
  const reason = contents.verb === "still holds" ? "NotEmpty" : "InUse";
  return { step: "stall", reason, message, retryMs: RECHECK_MS * 5 };
}

/** What has to be done before the resource may go; one write at a time. */
function preDelete(view: View, observation: Present): Decision | undefined {
  if (!observation.preDelete) return undefined;
  const { request } = view;
  if (request && observation.asOf <= request.since) return { ...inProgress(view, request.action), look: "list" };
  if (request?.outcome === "unanswered") return decideUnanswered(view, request);
  if (request?.outcome === "FAILED") return failed(view, request, false);
  if (request && request.outcome !== "DONE") return { ...inProgress(view, request.action), look: "member" };
  return { step: "update", operation: observation.preDelete };
}

/** A new key. Where each is a resource, the one before the last goes first. */
export const renewal = ({ previous }: View): Decision => ({
  step: nextStep({ previous, isDue: true }) === "revoke" ? "revoke" : "renew",
});

/** The way of a resource that is to be replaced. */
export const deleteToReplace = (view: View, observation: Present): Decision =>
  blockedByContents(view, observation) ??
  preDelete(view, observation) ??
  (view.permanent ? { step: "forget" } : { step: "delete", action: "replace" });

/** How a deletion stands that is not the object's own. */
export function replacementUnderWay(view: View): Decision | undefined {
  const { request } = view;
  if (request?.action !== "replace" || isDone(request)) return undefined;
  return request.outcome === "FAILED"
    ? failed(view, request, false)
    : { ...inProgress(view, "replace"), look: "member" };
}

/** Deletes what cannot be changed; once it is gone, its place is empty and a creation follows. */
export function decideReplacement(
  view: View,
  { fields, why, verdict }: NonNullable<View["replacement"]>,
  observation: Present,
): Decision {
  const { kind } = view;
  const begun = replacementUnderWay(view);
  if (begun) return begun;
  const changed = `${fields.join(", ")} cannot be changed in place and ${fields.length > 1 ? "have" : "has"} changed since the ${kind} was created (${why.join("; ")})`;
  switch (verdict) {
    case "final":
      return { step: "stall", reason: "ImmutableFieldChanged", message: `${changed}: change it back` };
    case "forbidden":
      return {
        step: "stall",
        reason: "ImmutableFieldChanged",
        message: `${changed}: change it back, or set replacePolicy: WhenNeeded, which deletes the ${kind} and creates a new one`,
      };
    case "allowed":
      return view.successive ? renewal(view) : deleteToReplace(view, observation);
    default: {
      const given = verdict.allowedBy === "true" ? "" : `"true" was used for an earlier change; `;
      return {
        step: "stall",
        reason: "DataLossNotAllowed",
        message: `${changed}; replacing the ${kind} loses its data: ${given}set the annotation mooring.dev/allow-data-loss to "${verdict.allowedBy}" to allow it once, or change it back`,
      };
    }
  }
}

/** Works from the claim or the intent alone, whatever has become of spec and its references. */
export function decideDeletion(view: View): Decision {
  const { kind, claim, intent, observation, request } = view;
  const nothing: Decision = { step: "release", reason: "Deleted", message: `no ${kind} to delete` };
  if (view.deletionPolicy === "Retain" || view.observed) {
    const known = claim ? `${kind} ${claim.id}` : kind;
    return { step: "release", reason: "Retained", message: `${known} is kept on the platform` };
  }
  if (view.unknownKey) {
    const message = `${[kind, view.unknownKey.id].join(" ").trim()} is kept on the platform: it is signed with a key that this operator does not have`;
    return { step: "release", reason: "Retained", message };
  }
  if (!intent && !claim && !view.previous) return nothing;
  if (view.accountObstacle) return blockedBy(view.accountObstacle);
  if (view.previous) return { step: "revoke" };
  if (intent) return decideRecovery(view, intent.succeeds ? { step: "retract" } : nothing);
  const gone: Decision = { step: "release", reason: "Deleted", message: `${kind} ${claim?.id} is deleted` };
  switch (observation.seen) {
    case "unknown":
      return awaitingFirstRead(view, "Deleting");
    case "present":
      if (request?.action === "delete" || request?.action === "replace") {
        if (request.outcome === "unanswered") return decideUnanswered(view, request);
        if (observation.busy || observation.asOf <= request.since) return inProgress(view, "delete");
        if (request.outcome === "FAILED") return failed(view, request, false);
        if (!isDone(request)) return { ...inProgress(view, "delete"), look: "member" };
      }
      if (observation.busy) return inProgress(view, request?.action ?? "update");
      return blockedByContents(view, observation) ?? preDelete(view, observation) ?? deleteOrRestore(view);
    case "absent": {
      if (request?.outcome === "FAILED") return request.action === "create" ? gone : failed(view, request, false);
      if (request && request.outcome !== "DONE") return awaitingDeletion(view, request.action);
      if (request?.action === "delete" || request?.action === "replace") return gone;
      // A creation that is done but not visible yet must be seen before it can be deleted.
      const fresh = request?.action === "create" && mayBeHidden(request.since, observation.asOf, view.believedMs);
      if (fresh) return { ...inProgress(view, "create"), look: "member" };
      return isReleasable(observation) ? gone : awaitingProof(view, observation);
    }
  }
}

/** What cannot be deleted is left as it was found. */
function deleteOrRestore({ permanent, kind }: View): Decision {
  if (!permanent) return { step: "delete", action: "delete" };
  return { step: "release", reason: "Retained", message: `${kind} is restored to its previous state` };
}
