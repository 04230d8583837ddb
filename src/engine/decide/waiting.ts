import { saysQuota } from "../../platform/answers/errors.ts";
import type { PendingRequest, View } from "../observe/view.ts";
import { needsPerson, type Obstacle, type Reason } from "../status/reasons.ts";
import type { Decision } from "./decision.ts";

type Wait = Extract<Decision, { step: "wait" }>;

/** Recheck interval while another party has to act. */
export const RECHECK_MS = 2000;

export const blockedBy = ({ reason, message }: Obstacle): Decision =>
  needsPerson(reason) ? { step: "stall", reason, message } : { step: "wait", reason, message };

/** A failed attempt stands until its time has come. */
export function afterFailure({ failure, now }: View): Decision | undefined {
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

/** What a person reads while the platform works on a request. */
export function inProgress({ kind }: Pick<View, "kind">, action: string): Wait {
  const changing = { reason: "Updating", doing: "changing", detail: ` (${action})` } as const;
  const { reason, doing, detail = "" } = GERUND[action] ?? changing;
  return { step: "wait", reason, message: `the platform is ${doing} the ${kind}${detail}` };
}

/** Whether what a request left can be seen: it is done, or it has no address where it could be asked. */
export const isDone = ({ outcome }: PendingRequest): boolean => outcome === "DONE" || outcome === "accepted";

/** Nothing was read of the claimed resource yet. */
export function awaitingFirstRead({ kind, observation }: View, reason: Reason = "Observing"): Wait {
  const { tooLarge } = observation.seen === "unknown" ? observation : {};
  if (tooLarge === undefined)
    return { step: "wait", reason, message: `waiting for the first read of the ${kind}`, look: "list" };
  const message = `${tooLarge}: each ${kind} is read by itself`;
  return { step: "wait", reason: "ListTooLarge", message, look: "list" };
}

/** Somebody else changes it, or something inside it: that is no news about this object. */
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
