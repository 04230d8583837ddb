import type { PendingRequest, Search, View } from "../observe/view.ts";
import type { Decision } from "./decision.ts";
import { inProgress, RECHECK_MS } from "./waiting.ts";

/** An old look says nothing about who owns what by now. */
const FRESH_MS = 5000;

/** An open intent without an id: look, do not guess. `otherwise` is what to do once it is certain that nothing was made. */
export function decideRecovery(view: View, otherwise: Decision): Decision {
  const { intent, search, now, kind, settledAt } = view;
  if (!intent || view.unsent) return otherwise;
  if (!search || now - search.endedAt >= FRESH_MS) return { step: "search" };
  const settled = search.lookedAt >= settledAt;
  const certain = settled && !search.inFlight && !search.pending;
  if (search.matches.length > search.rivals) {
    // Whose they are cannot be told, their values are lost, and they expire by themselves.
    if (view.successive) return certain && search.looks > 1 ? otherwise : searching(view, search);
    const ids = search.matches.join(", ");
    return {
      step: "stall",
      reason: "Ambiguous",
      message: `an interrupted creation left ${search.matches.length} matching ${kind}s, more than requested: ${ids}: adopt those that are in use with objects of their own (externalId, with deletionPolicy: Retain), and delete those that nobody needs`,
      retryMs: RECHECK_MS * 15,
    };
  }
  // Who takes what an equal made leaves its own to it, and the equal may not look back so far, or not for so long. So all of
  // them have to be seen first, or it has to be certain that its own is among those that are.
  const complete = search.matches.length === search.rivals;
  if (!search.inFlight && !search.pending && (complete || settled)) {
    // Everything is visible by now: what is left over is as good as any.
    const mine = (complete ? search.matches[search.rank] : undefined) ?? (settled ? search.matches[0] : undefined);
    if (mine !== undefined) return { step: "claim", identity: mine };
    // One answer may not show what is there: nothing is sent again on the word of a single one.
    if (settled && search.looks > 1) return otherwise;
  }
  return searching(view, search);
}

function searching({ now, kind }: View, { endedAt }: Search): Decision {
  if (now - endedAt >= RECHECK_MS) return { step: "search" };
  const message = `the creation of the ${kind} got no answer; searching for its result`;
  return { step: "wait", reason: "Recovering", message, recheckMs: RECHECK_MS };
}

/** A write that was announced and got no answer. It may still be executed, and be shown later. */
export function decideUnanswered(view: View, request: PendingRequest): Decision {
  const { now, renewal } = view;
  const { recalledAt, settledAt = Infinity } = request;
  const waiting: Decision = { ...inProgress(view, request.action), recheckMs: RECHECK_MS };
  if (renewal === "answered") return { step: "deliver" };
  // One more key is made when the lost one can no longer come: it would end the new one's life.
  if (renewal === "lost") {
    if (now < settledAt) return waiting;
    return { step: view.deleting ? "retract" : "renew" };
  }
  if (recalledAt !== undefined && recalledAt >= settledAt) return { step: "retract" };
  return recalledAt === undefined || now - recalledAt >= RECHECK_MS ? { step: "recall" } : waiting;
}
