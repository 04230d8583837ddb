import type { Operation } from "../../kinds/desired.ts";
import type { View } from "../observe/view.ts";
import { markOf } from "../state/intent.ts";
import { isAccepted, MOST_ACCEPTED } from "../state/memory.ts";
import { RECONCILE_AT } from "../state/names.ts";
import type { Decision } from "./decision.ts";
import { inProgress } from "./waiting.ts";

/**
 * The platform has accepted this write before, and its effect is not seen. It is sent again only after a backoff, and on a read that
 * began after it. After a few attempts status says so. Undefined when the write may be sent.
 */
export function repetition(view: View, operation: Operation): Decision | undefined {
  const { accepted, observation } = view.resource;
  const { now } = view.times;
  if (!accepted || observation.seen !== "present" || !isAccepted(accepted, markOf(operation))) return undefined;
  const { at, retryAt, times } = accepted;
  const { asOf } = observation;
  if (asOf <= at || (retryAt <= now && asOf <= retryAt)) {
    return { step: "wait", reason: "Observing", message: `waiting for a fresh read of the ${view.kind}`, look: "list" };
  }
  if (retryAt <= now) return undefined;
  if (times < MOST_ACCEPTED) return { ...inProgress(view, operation.action), recheckMs: retryAt - now };
  return { step: "stall", reason: "NotApplied", message: notApplied(view, operation), retryMs: retryAt - now };
}

function notApplied({ kind, resource: { observation } }: View, { action, fields }: Operation): string {
  const drift = observation.seen === "present" ? (observation.comparison?.drift ?? []) : [];
  const differs = drift.find(({ field }) => fields?.includes(field) ?? true);
  const way = `check the ${kind} on the platform; the operator tries again ever more rarely, set the annotation ${RECONCILE_AT} to retry now`;
  if (!differs) return `the platform accepted "${action}" ${MOST_ACCEPTED} times and shows no effect: ${way}`;
  const { field, wanted, found } = differs;
  return `spec.${field} is ${wanted || "empty"}, the platform accepted the change ${MOST_ACCEPTED} times and still shows ${found || "nothing"}: ${way}, or change spec`;
}
