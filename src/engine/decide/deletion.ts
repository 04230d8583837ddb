import { isWithin } from "../../kinds/fields/compare.ts";
import { nothingDeleted } from "../../platform/collections/misanswer.ts";
import { several } from "../../runtime/text.ts";
import type { Observation, Replacement, View } from "../observe/view.ts";
import { isOver, mayBeHidden } from "../state/presence.ts";
import { nextStep } from "../state/succession.ts";
import { awaitingDeletion, awaitingProof } from "./absence.ts";
import type { Decision } from "./decision.ts";
import { decideRecovery, decideUnanswered } from "./recovery.ts";
import { awaitingFirstRead, blockedBy, failed, inProgress, isDone, RECHECK_MS } from "./waiting.ts";

export type Present = Extract<Observation, { seen: "present" }>;

/** Retry interval while an answer is not understood. */
const UNCLEAR_MS = 10_000;

/** How long status does not say that a deletion waits for a read, which usually takes a moment. */
const PATIENCE_MS = 5000;

/** The evidence that a destructive step still lacks: a read that began after the request for it, and that was understood. */
export function lackOfEvidence(
  { kind, spec: { deleting }, times: { now, desiredSince } }: View,
  { asOf, unclear }: Pick<Present, "asOf" | "unclear">,
): Decision | undefined {
  if (asOf <= desiredSince) {
    const reason = deleting && now - desiredSince > PATIENCE_MS ? "Deleting" : "Observing";
    return { step: "wait", reason, message: `waiting for a fresh read of the ${kind}`, read: "list" };
  }
  if (unclear === undefined) return undefined;
  const due = asOf + UNCLEAR_MS - now;
  return {
    step: "wait",
    reason: "PlatformUnavailable",
    message: `${unclear}; nothing is deleted until it is known what would be deleted with the ${kind}${deleting ? "; to keep it on the platform, set deletionPolicy: Retain" : ""}`,
    ...(due > 0 ? { recheckMs: due } : { read: "list", recheckMs: UNCLEAR_MS }),
  };
}

/** How far apart two readings of what is inside are at least. */
const AGAIN_MS = 2000;

/** The contents must be read after the resource itself, and missing in two readings with a pause: one list may be empty by mistake. */
function contentsUnread({ kind, resource: { contents }, times: { now } }: View, asOf: number): Decision | undefined {
  const { found } = contents ?? {};
  if (!found) return { step: "inspect" };
  const isUnsure = found.names.length === 0 && found.asOf - found.since < AGAIN_MS;
  const recheckMs = found.since + AGAIN_MS - now;
  if (isUnsure && recheckMs > 0) {
    return { step: "wait", reason: "Observing", message: `reading what is inside of the ${kind} once more`, recheckMs };
  }
  return isUnsure || found.asOf < asOf ? { step: "inspect" } : undefined;
}

/** Something is in the resource or uses it. */
function blockedByContents(view: View, { asOf, users = [] }: Present): Decision | undefined {
  const { kind } = view;
  const { contents, claim } = view.resource;
  const { deleting } = view.spec;
  if (!contents || (contents.ignored && !contents.guests)) return undefined;
  if (contents.leaving.length > 0) {
    const message = `waiting for the deletion of ${several(contents.leaving)}`;
    return { step: "wait", reason: deleting ? "Deleting" : "Replacing", message, recheckMs: RECHECK_MS };
  }
  const { staying, found } = contents;
  const unread = staying.length === 0 ? contentsUnread(view, asOf) : undefined;
  if (unread) return unread;
  const held = [...staying, ...users, ...(found?.names ?? [])];
  if (held.length === 0) return undefined;
  const keep = deleting
    ? `To keep all of it on the platform, set deletionPolicy: Retain (with externalId: ${claim?.id} where the object is applied again, or another ${kind} is created)`
    : "To keep all of it, change spec back";
  const isInside = contents.verb === "still holds";
  const way = contents.guests
    ? `ask the owners in the other namespaces to delete theirs${isInside ? "" : ` or to use another ${kind}`}, which no annotation does from here`
    : isInside
      ? `delete those first (their data is lost, unless they have deletionPolicy: Retain), or set the annotation mooring.dev/allow-non-empty-delete to "true" (what is inside is deleted as well)`
      : `let them use another ${kind} or none, or delete them first (their data is lost, unless they have deletionPolicy: Retain)`;
  const message = `${kind} ${contents.verb} ${several(held)}. ${keep}. To ${deleting ? "delete" : "replace"} it, ${way}`;
  return { step: "stall", reason: isInside ? "NotEmpty" : "InUse", message, recheckMs: RECHECK_MS * 5 };
}

/** The writes that must come before a deletion, one at a time. */
function preDelete(view: View, observation: Present): Decision | undefined {
  if (!observation.preDelete) return undefined;
  const { request } = view.resource;
  if (request && observation.asOf <= request.since) return { ...inProgress(view, request.action), read: "list" };
  const unanswered = decideUnanswered(view);
  if (unanswered) return unanswered;
  if (request?.outcome === "FAILED") return failed(view, request, false);
  if (request && request.outcome !== "DONE") return { ...inProgress(view, request.action), read: "member" };
  return { step: "update", operation: observation.preDelete };
}

/** A new key. If each key is a resource, the previous one is deleted first. */
export const renewal = ({ secrets: { previous } }: View): Decision => ({
  step: nextStep({ previous, isDue: true }) === "revoke" ? "revoke" : "renew",
});

export const deleteToReplace = (view: View, observation: Present): Decision =>
  blockedByContents(view, observation) ??
  preDelete(view, observation) ??
  (view.resource.permanent ? { step: "forget" } : { step: "delete", action: "replace" });

/** A replacement whose deletion is not over. */
export function replacementUnderWay(view: View): Decision | undefined {
  const { request } = view.resource;
  if (request?.action !== "replace" || isDone(request)) return undefined;
  return request.outcome === "FAILED"
    ? failed(view, request, false)
    : { ...inProgress(view, "replace"), read: "member" };
}

/** Deletes the resource if that is allowed. Once it is gone, a creation follows. */
export function decideReplacement(view: View, observation: Present): Decision | undefined {
  const { kind, spec } = view;
  if (!spec.replacement) return undefined;
  const { verdict, late } = spec.replacement;
  const begun = replacementUnderWay(view);
  if (begun) return begun;
  const { changed, back } = differenceOf(kind, spec.replacement);
  const obstacle = spec.obstacle ?? spec.lacking;
  switch (verdict) {
    case "kept": {
      const anew = `a ${kind} with externalId is not replaced: to have a new one, say in spec all that it is to have, then remove externalId`;
      return { step: "stall", reason: "ImmutableFieldChanged", message: `${changed}: ${back}; ${anew}` };
    }
    case "final":
    case "forbidden": {
      const replacing = view.resource.successive
        ? "creates a new token and revokes this one a few minutes later"
        : `deletes the ${kind}${late?.holdsData ? " with its data" : ""} and creates a new one`;
      const or = `, or set replacePolicy: WhenNeeded, which ${replacing}`;
      const message = `${changed}: ${back}${verdict === "final" ? "" : or}`;
      return { step: "stall", reason: "ImmutableFieldChanged", message };
    }
    case "allowed":
      if (view.resource.successive) return renewal(view);
      // Nothing is deleted before its replacement can be created.
      if (obstacle) return blockedBy(obstacle);
      return spec.unchecked ? { step: "check" } : deleteToReplace(view, observation);
    default: {
      const given = verdict.allowedBy === "true" ? "" : `"true" was used for an earlier change; `;
      return {
        step: "stall",
        reason: "DataLossNotAllowed",
        message: `${changed}; replacing the ${kind} loses its data: ${given}set the annotation mooring.dev/allow-data-loss to "${verdict.allowedBy}" to allow it once, or ${back}`,
      };
    }
  }
}

/** The difference, and how spec fits the resource again. */
function differenceOf(kind: string, { fields, why, late }: Replacement): { changed: string; back: string } {
  const because = why.join("; ");
  const have = (names: string[]) => `${names.length > 1 ? "have" : "has"} changed since the ${kind} was created`;
  if (!late) {
    const changed = `${fields.join(", ")} cannot be changed in place and ${have(fields)} (${because})`;
    return { changed, back: "change it back" };
  }
  const values = late.drift.map(
    (each) => `${each.field} is ${each.found || "empty"} on the platform, not ${each.wanted}`,
  );
  const isFound = (field: string) => late.drift.some((each) => isWithin(each.field, field));
  const others = fields.filter((field) => !isFound(field));
  const all = [...values, ...(others.length > 0 ? [`${others.join(", ")} ${have(others)}`] : [])];
  const back = `set what is there or change spec back, which keeps the ${kind}`;
  return { changed: `${all.join("; ")}, and cannot be changed in place (${because})`, back };
}

/** Needs only the claim or the intent, whatever spec and its references are now. */
export function decideDeletion(view: View): Decision {
  const { kind, spec, account } = view;
  const { claim, intent, unknownKey, refused } = view.resource;
  const { previous } = view.secrets;
  const left = refused === undefined ? `no ${kind} to delete` : nothingDeleted(kind, refused);
  const nothing: Decision = { step: "release", reason: refused === undefined ? "Deleted" : "Retained", message: left };
  const isKept = spec.deletionPolicy === "Retain" || spec.observed;
  if (isKept || unknownKey) {
    const again = claim && !spec.observed ? "; to manage it again, create the object with its externalId" : "";
    const detail = isKept ? again : ": it is signed with a key that this operator does not have";
    const message = `${[kind, (isKept ? claim : unknownKey)?.id].join(" ").trim()} is kept on the platform${detail}`;
    return { step: "release", reason: "Retained", message };
  }
  if (!intent && !claim && !previous) return nothing;
  if (account.obstacle) return blockedBy(account.obstacle);
  if (previous) return { step: "revoke" };
  if (intent) return decideRecovery(view, intent.succeeds ? { step: "retract" } : nothing);
  return decideClaimDeletion(view);
}

function decideClaimDeletion(view: View): Decision {
  const { kind, resource } = view;
  const { claim, request, observation, permanent } = resource;
  const isDeletion = request?.action === "delete" || request?.action === "replace";
  const gone: Decision = { step: "release", reason: "Deleted", message: `${kind} ${claim?.id} is deleted` };
  switch (observation.seen) {
    case "unknown":
      return awaitingFirstRead(view, "Deleting");
    case "present":
      if (isDeletion) {
        const unanswered = decideUnanswered(view);
        if (unanswered) return unanswered;
        if (observation.busy || observation.asOf <= request.since) return inProgress(view, "delete");
        if (request.outcome === "FAILED") return failed(view, request, false);
        if (!isDone(request)) return { ...inProgress(view, "delete"), read: "member" };
      }
      if (observation.busy) return inProgress(view, request?.action ?? "update");
      return (
        blockedByContents(view, observation) ??
        preDelete(view, observation) ??
        (permanent
          ? { step: "release", reason: "Retained", message: `${kind} is restored to its previous state` }
          : { step: "delete", action: "delete" })
      );
    case "absent": {
      if (request?.outcome === "FAILED") return request.action === "create" ? gone : failed(view, request, false);
      if (request && request.outcome !== "DONE") return awaitingDeletion(view, request.action);
      if (isDeletion) return gone;
      // A creation that is DONE and not visible yet must be seen before its resource can be deleted.
      const { believedMs } = view.times;
      const isHidden = request?.action === "create" && mayBeHidden(request.since, observation.asOf, believedMs);
      if (isHidden) return { ...inProgress(view, "create"), read: "member" };
      return isOver(observation.absence) ? gone : awaitingProof(view, observation);
    }
  }
}
