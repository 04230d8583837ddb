import { saysQuota } from "../../platform/answers/errors.ts";
import type { PendingRequest, View } from "../observe/view.ts";
import { needsPerson, type Obstacle, type Reason } from "../status/reasons.ts";
import type { Decision } from "./decision.ts";

type Wait = Extract<Decision, { step: "wait" }>;

/** Recheck interval while something else has to happen first. */
export const RECHECK_MS = 2000;

export const blockedBy = ({ reason, message }: Obstacle): Decision =>
  needsPerson(reason) ? { step: "stall", reason, message } : { step: "wait", reason, message };

/** The last failure, until its backoff is over. */
export function afterFailure({ resource: { failure }, times: { now } }: View): Decision | undefined {
  if (!failure || failure.retryAt <= now) return undefined;
  const { reason, message, retryAt } = failure;
  const inMs = retryAt - now;
  return needsPerson(reason)
    ? { step: "stall", reason, message, retryMs: inMs }
    : { step: "wait", reason, message, recheckMs: inMs };
}

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
  const { tooLarge } = observation.seen === "unknown" ? observation : {};
  if (tooLarge === undefined)
    return { step: "wait", reason, message: `waiting for the first read of the ${kind}`, look: "list" };
  const message = `${tooLarge}: each ${kind} is read by itself`;
  return { step: "wait", reason: "ListTooLarge", message, look: "list" };
}

/** Somebody else changes it, or something inside it. Status does not say so. */
export function busyWithOthers({ kind }: View): Wait {
  return { step: "wait", reason: "Observing", message: `${kind} is being changed outside Mooring` };
}

/** A request failed; `gone` when nothing of it is left on the platform. */
export function failed(view: View, request: PendingRequest, gone: boolean): Decision {
  const why = request.message ?? "the platform gave no reason";
  return {
    step: "fail",
    reason: saysQuota(why) ? "QuotaExceeded" : "ProvisioningFailed",
    message: `${request.action} of the ${view.kind} failed: ${why}`,
    gone,
  };
}

export function several(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(", ");
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}
