import type { Observation, View } from "../observe/view.ts";
import { isOver } from "../state/presence.ts";
import type { Decision } from "./decision.ts";
import { inProgress, RECHECK_MS } from "./waiting.ts";

export type Absent = Extract<Observation, { seen: "absent" }>;

/** So long a resource that is not seen is looked for before anybody is told. */
const PATIENCE_MS = 10_000;
/** The longest recheck interval while absence may still be proven, and after that: lists show the resource when it is back. */
const LONGEST_RECHECK_MS = { proving: 60_000, later: 600_000 };
/** After so long, single looks prove nothing more. */
const PROVEN_MS = 1_800_000;
/** The collection tells when a deletion is over; an object looks by itself after this. */
const VANISHING_MS = 30_000;

/** Whether a resource that is not seen is there no more: its deletion is on record, or no record could tell of it. */
const isGone = ({ absence, logged }: Absent): boolean => absence === "deleted" || (absence === "missing" && !logged);

/** Whether an object that is being deleted may go: nothing is left that it stands for. */
export const isReleasable = (absent: Absent): boolean => isOver(absent.absence);

/** Whether a resource that is not seen is created again. Silence is never enough: the platform or a person says so. */
export function isRecreated({ recreatePolicy, recreateAsked, replacement }: View, absent: Absent): boolean {
  // A replacement deletes it first, and the process may have died right after that.
  const isReplaced = absent.absence === "deleted" && replacement?.verdict === "allowed";
  if (recreateAsked || isReplaced) return true;
  switch (recreatePolicy) {
    case "WhenDeleted":
      return isGone(absent);
    case "WhenMissing":
      return isReleasable(absent);
    case "Never":
      return false;
  }
}

/** The recheck interval of a resource that is not seen grows with the time it is missed. */
function pauseOf({ now }: View, { since }: Absent): number {
  const missedMs = now - since;
  const longest = LONGEST_RECHECK_MS[missedMs < PROVEN_MS ? "proving" : "later"];
  return Math.min(Math.max(missedMs / 4, RECHECK_MS), longest);
}

/** A resource that is not seen and not created again: says so, and goes on looking for it. */
export function notSeen(view: View, absent: Absent): Decision {
  const { kind, claim, now, observed } = view;
  const { absence, since, deletion = "" } = absent;
  const what = `${kind} ${claim?.id}`;
  const recheckMs = pauseOf(view, absent);
  if (absence === "leaving") {
    const message = `${what} is being deleted outside Mooring (${deletion})`;
    return { step: "wait", reason: "Observing", message, look: "member", recheckMs };
  }
  if (absence !== "deleted" && now - since < PATIENCE_MS) {
    return { step: "wait", reason: "Observing", message: `looking for ${what}`, look: "member", recheckMs };
  }
  const anew = `to create a new one, set the annotation mooring.dev/recreate to "${claim?.id}"`;
  if (absence === "deleted") {
    const lost = observed ? "" : `; what it held is lost, and recreatePolicy is Never: ${anew}`;
    const message = `${what} was deleted outside Mooring ${deletion}${lost}`;
    return { step: "stall", reason: observed ? "NotAdoptable" : "DeletedExternally", message };
  }
  const known = `${what} is not found on the platform, and nothing shows that it was deleted`;
  const message = observed ? known : `${known}: no other one is created. Nothing to do if it is seen again; ${anew}`;
  return { step: "stall", reason: "Missing", message, look: "member", retryMs: recheckMs };
}

/** A deletion of ours whose resource is not seen any more: its request tells when it is over. */
export const awaitingDeletion = (view: View, action: string): Decision => ({
  ...inProgress(view, action),
  recheckMs: VANISHING_MS,
});

/** The resource of an object that is being deleted is not seen, and was not deleted by Mooring. */
export function awaitingProof(view: View, absent: Absent): Decision {
  const message = `${view.kind} ${view.claim?.id} is not found on the platform; waiting until it is certain that it is gone; to release the object now and leave what may be there, set deletionPolicy: Retain`;
  return { step: "wait", reason: "Deleting", message, look: "member", recheckMs: pauseOf(view, absent) };
}
