import type { Operation } from "../../kinds/desired.ts";
import { saysQuota } from "../../platform/answers/errors.ts";
import type { PendingRequest, View } from "../observe/view.ts";
import { type Claim, writeKeyOf } from "../state/intent.ts";
import { isAccepted, MOST_ACCEPTED } from "../state/memory.ts";
import { RECONCILE_AT } from "../state/names.ts";
import { needsPerson, type Obstacle, type Reason } from "../status/reasons.ts";
import type { Decision } from "./decision.ts";

type Wait = Decision<"wait">;

/** Recheck interval while something else has to happen first. */
export const RECHECK_MS = 2000;

export const blockedBy = ({ reason, message }: Obstacle): Decision<"stall" | "wait"> => ({
  step: needsPerson(reason) ? "stall" : "wait",
  reason,
  message,
});

/** The last failure, until its backoff is over. */
export const afterFailure = ({ resource: { failure }, times: { now } }: View): Decision | undefined =>
  failure && failure.retryAt > now ? { ...blockedBy(failure), recheckMs: failure.retryAt - now } : undefined;

const GERUND: Record<string, { reason: Reason; doing: string; detail?: string }> = {
  create: { reason: "Creating", doing: "creating" },
  delete: { reason: "Deleting", doing: "deleting" },
  replace: { reason: "Replacing", doing: "deleting", detail: " to replace it" },
};

/** The message while the platform works on a request. */
export function inProgress({ kind }: Pick<View, "kind">, action: string): Wait {
  const changing = { reason: "Updating", doing: "changing", detail: ` (${action})` } as const;
  const { reason, doing, detail = "" } = GERUND[action] ?? changing;
  return { step: "wait", reason, message: `the platform is ${doing} the ${kind}${detail}` };
}

/** Whether the effect of a request can be seen: it is DONE, or it has no address to ask at. */
export const isDone = ({ outcome }: PendingRequest): boolean => outcome === "DONE" || outcome === "accepted";

export function awaitingFirstRead({ kind, resource: { observation } }: View, reason: Reason = "Observing"): Wait {
  const { partial } = observation.seen === "unknown" ? observation : {};
  if (!partial) return { step: "wait", reason, message: `waiting for the first read of the ${kind}`, read: "list" };
  const message = `${partial.message}: each ${kind} is read by itself`;
  return { step: "wait", reason: partial.reason, message, read: "list" };
}

/** Somebody else changes it, or something inside it. Status does not say so. */
export function busyWithOthers({ kind }: View): Wait {
  return { step: "wait", reason: "Observing", message: `${kind} is being changed outside Mooring` };
}

/** A request failed; `gone` when nothing of it is left on the platform. */
export function failed(view: View, request: PendingRequest, gone: boolean): Decision {
  const why = request.message ?? "the platform gave no reason";
  const reason = saysQuota(why) ? "QuotaExceeded" : "ProvisioningFailed";
  return { step: "fail", reason, message: `${request.action} of the ${view.kind} failed: ${why}`, gone };
}

/**
 * The platform has accepted this write before, and its effect is not seen. It is sent again only after a backoff, and on
 * a read that began after it. After a few attempts status says so. Undefined when the write may be sent.
 */
export function repetition(view: View, operation: Operation): Decision | undefined {
  const { accepted, observation } = view.resource;
  const { now } = view.times;
  if (!accepted || observation.seen !== "present" || !isAccepted(accepted, writeKeyOf(operation))) return undefined;
  const { at, retryAt, times } = accepted;
  const { asOf } = observation;
  if (asOf <= at || (retryAt <= now && asOf <= retryAt)) {
    return { step: "wait", reason: "Observing", message: `waiting for a fresh read of the ${view.kind}`, read: "list" };
  }
  if (retryAt <= now) return undefined;
  if (times < MOST_ACCEPTED) return { ...inProgress(view, operation.action), recheckMs: retryAt - now };
  return { step: "stall", reason: "NotApplied", message: notApplied(view, operation), recheckMs: retryAt - now };
}

/** The deletion of a resource, as a write that may be repeated. */
export const deletionOf = (of?: Claim) =>
  ({ action: "delete", method: "DELETE", path: `${of?.id}` }) satisfies Operation;

function notApplied({ kind, resource: { observation } }: View, { action, fields }: Operation): string {
  const drift = observation.seen === "present" ? (observation.comparison?.drift ?? []) : [];
  const differs = drift.find(({ field }) => fields?.includes(field) ?? true);
  const way = `check the ${kind} on the platform; the operator tries again ever more rarely, set the annotation ${RECONCILE_AT} to retry now`;
  if (!differs) return `the platform accepted "${action}" ${MOST_ACCEPTED} times and shows no effect: ${way}`;
  const { field, wanted, found } = differs;
  return `spec.${field} is ${wanted || "empty"}, the platform accepted the change ${MOST_ACCEPTED} times and still shows ${found || "nothing"}: ${way}, or change spec`;
}
