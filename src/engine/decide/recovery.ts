import type { Search, View } from "../observe/view.ts";
import type { Decision } from "./decision.ts";
import { inProgress, RECHECK_MS } from "./waiting.ts";

/** How long a search counts: other objects may claim what it found. */
const FRESH_MS = 5000;
/** The longest pause between two searches. */
const MOST_MS = 60_000;

/** Searches for the result of the open intent. `otherwise` is the step once it is certain that nothing was created. */
export function decideRecovery(view: View, otherwise: Decision): Decision {
  const { intent, search, unsent, successive } = view.resource;
  const { now, settledAt } = view.times;
  if (!intent || unsent) return otherwise;
  if (!search || now - search.endedAt >= Math.max(FRESH_MS, pauseOf(view, search))) return { step: "search" };
  const settled = search.beganAt >= settledAt;
  const certain = settled && !search.inFlight && !search.pending;
  if (search.matches.length > search.rivals) {
    // The values of these keys are lost, and they expire by themselves.
    if (successive) return certain && search.settledSearches > 1 ? otherwise : searching(view, search);
    const ids = search.matches.join(", ");
    return {
      step: "stall",
      reason: "Ambiguous",
      message: `an interrupted creation left ${search.matches.length} matching ${view.kind}s, more than requested: ${ids}: adopt those that are in use with objects of their own (externalId, with deletionPolicy: Retain), and delete those that nobody needs`,
      recheckMs: RECHECK_MS * 15,
    };
  }
  // If this object claims the result of an equal intent, its own is left to the other object, whose search may not find it.
  // So all results must be visible first, or the outcome of this intent must be certain.
  const complete = search.matches.length === search.rivals;
  if (!search.inFlight && !search.pending && (complete || settled)) {
    // Once everything is visible, any of the remaining matches will do.
    const mine = (complete ? search.matches[search.rank] : undefined) ?? (settled ? search.matches[0] : undefined);
    if (mine !== undefined) return { step: "claim", identity: mine };
    // A single answer may be incomplete: two searches must find nothing before the POST is sent again.
    if (settled && search.settledSearches > 1) return otherwise;
  }
  return searching(view, search);
}

function searching(view: View, search: Search): Decision {
  const recheckMs = pauseOf(view, search);
  if (view.times.now - search.endedAt >= recheckMs) return { step: "search" };
  const why = isUncounted(view, search) ? " again, because the platform does not list resources of other objects" : "";
  const { call, status } = search.foreign ?? {};
  const from = `a gateway or proxy answered ${call} with ${status}; if this repeats, ask whoever runs it`;
  const answer = status === undefined ? "no answer" : `no answer of the platform: ${from}`;
  const message = `the creation of the ${view.kind} got ${answer}; searching for its result${why}`;
  return { step: "wait", reason: "Recovering", message, recheckMs };
}

/** A search that found nothing does not count while the platform hides resources. */
const isUncounted = ({ times }: View, { beganAt, settledSearches, matches }: Search): boolean =>
  beganAt >= times.settledAt && settledSearches === 0 && matches.length === 0;

/** Grows while no search counts. */
function pauseOf(view: View, search: Search): number {
  if (!isUncounted(view, search)) return RECHECK_MS;
  return Math.min(Math.max(RECHECK_MS, (search.endedAt - view.times.settledAt) / 10), MOST_MS);
}

/** A write that was announced and got no answer. It may still be executed, and its effect may be visible only later. */
export function decideUnanswered(view: View): Decision | undefined {
  const { request } = view.resource;
  const { renewal } = view.secrets;
  const { now } = view.times;
  if (request?.outcome !== "unanswered") return undefined;
  const { recalledAt, settledAt = Infinity } = request;
  const waiting: Decision = { ...inProgress(view, request.action), recheckMs: RECHECK_MS };
  if (renewal === "answered") return { step: "deliver" };
  // A key that arrives late would end the newer one.
  if (renewal === "lost") {
    if (now < settledAt) return waiting;
    return { step: view.spec.deleting ? "retract" : "renew" };
  }
  if (recalledAt !== undefined && recalledAt >= settledAt) return { step: "retract" };
  return recalledAt === undefined || now - recalledAt >= RECHECK_MS ? { step: "recall" } : waiting;
}
