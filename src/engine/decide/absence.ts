import type { Observation, View } from "../observe/view.ts";
import { isOver } from "../state/presence.ts";
import type { Decision } from "./decision.ts";
import { inProgress, RECHECK_MS } from "./waiting.ts";

export type Absent = Extract<Observation, { seen: "absent" }>;

/** How long a missing resource is searched for before status says so. */
const PATIENCE_MS = 10_000;
/** The longest recheck interval while absence may still be proven, and later, when only a list may show the resource again. */
const LONGEST_RECHECK_MS = { proving: 60_000, later: 600_000 };
/** How long absence may still be proven by reads of the member. */
const PROVEN_MS = 1_800_000;
/** Recheck interval during a deletion. Usually the collection enqueues the object earlier. */
const VANISHING_MS = 30_000;

/** Whether a missing resource is created again. A missing answer is never enough: the platform or a person must say so. */
export function isRecreated(spec: View["spec"], { absence, logged }: Absent): boolean {
  const { recreatePolicy, recreateAsked, replacement, lacking } = spec;
  // A replacement deletes first, and the process may have died right after that.
  const isReplaced = absence === "deleted" && replacement?.verdict === "allowed";
  if (isReplaced || recreateAsked) return true;
  switch (lacking ? "Never" : recreatePolicy) {
    case "WhenDeleted":
      return absence === "deleted" || (absence === "missing" && !logged);
    case "WhenMissing":
      return isOver(absence);
    case "Never":
      return false;
  }
}

/** The recheck interval grows with the time that the resource is missing. */
function pauseOf({ now }: View["times"], { since }: Absent): number {
  const missingMs = now - since;
  const longest = LONGEST_RECHECK_MS[missingMs < PROVEN_MS ? "proving" : "later"];
  return Math.min(Math.max(missingMs / 4, RECHECK_MS), longest);
}

/** A resource that is missing and not created again: says so, and goes on looking for it. */
export function notSeen({ kind, spec, resource: { claim }, times }: View, absent: Absent): Decision {
  const { absence, since, deletion = "outside Mooring" } = absent;
  const what = `${kind} ${claim?.id}`;
  const recheckMs = pauseOf(times, absent);
  if (absence === "leaving") {
    const message = `${what} is being deleted ${deletion}`;
    return { step: "wait", reason: "Observing", message, read: "member", recheckMs };
  }
  if (absence !== "deleted" && times.now - since < PATIENCE_MS) {
    return { step: "wait", reason: "Observing", message: `looking for ${what}`, read: "member", recheckMs };
  }
  const anew = `to create a new one, set the annotation mooring.dev/recreate to "${claim?.id}"`;
  if (absence === "deleted") {
    if (spec.observed) {
      const message = `${what} was deleted ${deletion}: this object has nothing to observe any more`;
      return { step: "stall", reason: "NotAdoptable", message };
    }
    const why =
      "what only it held is lost; it is not created again, because recreatePolicy is Never or spec has externalId";
    const message = `${what} was deleted ${deletion}; ${spec.lacking?.message ?? why}; ${anew}`;
    return { step: "stall", reason: "DeletedExternally", message };
  }
  const known = `${what} is not found on the platform, and nothing shows that it was deleted`;
  const next = spec.observed ? "" : `: no other one is created. Nothing to do if it is seen again; ${anew}`;
  return { step: "stall", reason: "Missing", message: `${known}${next}`, read: "member", recheckMs };
}

/** Mooring has sent the deletion, and the resource is no longer seen: the request shows when it is over. */
export const awaitingDeletion = (view: View, action: string): Decision =>
  Object.assign(inProgress(view, action), { recheckMs: VANISHING_MS });

/** The object is being deleted, and its resource is missing without a deletion by Mooring. */
export function awaitingProof({ kind, resource, times }: View, absent: Absent): Decision {
  const message = `${kind} ${resource.claim?.id} is not found on the platform; waiting until it is certain that it is gone; to release the object now and leave what may be there, set deletionPolicy: Retain`;
  return { step: "wait", reason: "Deleting", message, read: "member", recheckMs: pauseOf(times, absent) };
}
