import type { View } from "../observe/view.ts";
import type { Reason } from "../status/reasons.ts";
import { decideClaimed, decideObserved } from "./claimed.ts";
import type { Decision } from "./decision.ts";
import { decideDeletion, lackOfEvidence } from "./deletion.ts";
import { decideRecovery } from "./recovery.ts";
import { repetition } from "./repeated-write.ts";
import { afterFailure, awaitingFirstRead, blockedBy } from "./waiting.ts";

/**
 * The next step for one object. Pure: the same view gives the same decision.
 *
 * Flow: the first rule that answers chooses the step. Then the first guarantee that answers puts another step in its place.
 *
 * Guarantees, for every view: a creation only when no intent is open, or when the open one is past its window and a later
 * search found nothing; a deletion only of what is claimed, on a reading that began after it was asked for; nothing is sent to the
 * platform when paused, or during the backoff after a failure; always a step or a reason.
 *
 * Assumptions: all times of a view are of one clock that never jumps, and what it says of both caches was read at one moment.
 */
export function decide(view: View): Decision {
  return explain(view).decision;
}

/** The decision, with the name of the rule or guarantee that made it. */
export function explain(view: View): { rule: string; decision: Decision } {
  const chosen = firstOf(rules, (rule) => rule(view)) ?? { rule: "create", decision: decideCreation(view) };
  return firstOf(guarantees, (guarantee) => guarantee(view, chosen.decision)) ?? chosen;
}

function firstOf<T>(chain: Readonly<Record<string, T>>, ask: (each: T) => Decision | undefined) {
  for (const [rule, each] of Object.entries(chain)) {
    const decision = ask(each);
    if (decision) return { rule, decision };
  }
  return undefined;
}

/** In this order. The last rule, without a condition, is `decideCreation`. */
const rules = {
  /** The API server deletes it without us. */
  released: (view) => (view.deleting && !view.hasFinalizer ? { step: "ignore" } : undefined),
  /** Somebody has told Mooring to leave it alone, also while it is being deleted. */
  paused: (view) => (view.paused ? { step: "pause" } : undefined),
  /** Works from the claim or the intent alone. */
  deleted: (view) => (view.deleting ? decideDeletion(view) : undefined),
  /** A claim or an intent may be there that cannot be verified: nothing is done. */
  signedByUnknownKey: (view) => view.unknownKey && unknownKey(view.kind, view.unknownKey),
  /** Without its Account nothing can be read or sent. */
  accountBlocked: (view) => view.accountObstacle && blockedBy(view.accountObstacle),
  /** A creation was begun and is not answered: search before anything else. */
  creationOpen: (view) =>
    view.intent && decideRecovery(view, view.intent.succeeds ? { step: "retract" } : decideCreation(view)),
  /** It shows a resource of somebody else. */
  observed: (view) => (view.claim && view.observed ? decideObserved(view) : undefined),
  /** It has a resource. */
  claimed: (view) => view.claim && decideClaimed(view),
  /** It names a resource that exists and is not its own yet. */
  adoption: (view) => {
    if (view.adopt === undefined || (view.unwanted && !view.observed)) return undefined;
    return view.specObstacle ? blockedBy(view.specObstacle) : { step: "adopt", id: view.adopt };
  },
} satisfies Record<string, (view: View) => Decision | undefined>;

function decideCreation(view: View): Decision {
  if (view.observed) {
    return { step: "stall", reason: "InvalidSpec", message: "managementPolicy Observe needs spec.externalId" };
  }
  if (view.specObstacle) return blockedBy(view.specObstacle);
  if (view.unchecked) return { step: "check" };
  if (view.unwanted) return { step: view.previous ? "revoke" : "idle" };
  if (view.unlisted) return awaitingFirstRead(view);
  return view.permanent ? { step: "adopt" } : { step: "create" };
}

function unknownKey(kind: string, { id }: NonNullable<View["unknownKey"]>): Decision {
  const what = id === undefined ? `has begun to create a ${kind}` : `owns ${kind} ${id}`;
  const again = id === undefined ? "with externalId if one was made" : `with externalId: ${id}`;
  const message = `the object ${what}, signed with a key that this operator does not have: restore Secret mooring-signing-key; without it, delete the object, which keeps the ${kind} on the platform, and create it again ${again}`;
  return { step: "stall", reason: "SigningKeyUnknown", message };
}

/** What holds for every step, whichever rule chose it. In this order. */
const guarantees = {
  /** Without the finalizer the object would go and leave its resource; without its intent a creation would be forgotten. */
  marked: ({ hasFinalizer, recorded, claim, intent, deleting }) => {
    const isUnmarked = hasFinalizer ? intent && !recorded : (claim || intent) && !deleting;
    return isUnmarked ? { step: "mark" } : undefined;
  },
  /** A namespace that is being deleted takes nothing new. */
  namespaceTerminating: (view, step) => {
    if (!view.terminating || view.deleting || !createsSomething(step)) return undefined;
    const message = "the namespace is being deleted: nothing is created or renewed in it";
    return { step: "wait", reason: "NamespaceTerminating", message };
  },
  /** Without a Grant nothing is created or changed for a reference into another namespace. */
  notGranted: (view, step) => {
    const isHeld = view.ungranted && !view.deleting && (createsSomething(step) || addsSomething(step));
    return isHeld && view.ungranted ? blockedBy(view.ungranted) : undefined;
  },
  /** What a young object waits for usually comes in the same `kubectl apply`. */
  graceTime: ({ claim, now, graceUntil }, step) => {
    const waits = (step.step === "wait" || step.step === "stall") && PASSING.includes(step.reason);
    if (!waits || claim || now >= graceUntil) return undefined;
    return { ...step, step: "wait", reason: "Observing", recheckMs: graceUntil - now };
  },
  /** Nothing is sent during the backoff after a failure. */
  backoff: (view, step) => (callsPlatform(step) ? afterFailure(view) : undefined),
  /** A write that was accepted without effect is not repeated at once. */
  repeatedWrite: (view, step) => (step.step === "update" ? repetition(view, step.operation) : undefined),
  /** What destroys needs a reading that is fresh and understood. */
  evidence: (view, step) => {
    const { observation, previous } = view;
    const reading = step.step === "revoke" ? previous : observation.seen === "present" ? observation : undefined;
    return reading && endsSomething(step) ? lackOfEvidence(view, reading) : undefined;
  },
} satisfies Record<string, (view: View, step: Decision) => Decision | undefined>;

/** Reasons that a young object is not told of. */
const PASSING: readonly Reason[] = [
  "ReferenceNotFound",
  "ReferenceNotReady",
  "ReferenceNotGranted",
  "AccountNotFound",
  "AccountNotReady",
];

const CALLS: ReadonlySet<Decision["step"]> = new Set([
  "check",
  "create",
  "adopt",
  "inspect",
  "search",
  "update",
  "renew",
  "publish",
  "revoke",
  "recall",
  "deliver",
  "delete",
]);

/** Whether a step asks something of the platform for this object alone. */
const callsPlatform = (step: Decision): boolean => CALLS.has(step.step) || ("look" in step && step.look === "member");

const CREATES: ReadonlySet<Decision["step"]> = new Set(["create", "adopt", "renew", "publish", "output", "delete"]);

/** Whether a step makes something that has to be kept in the namespace. A deletion there is the first half of a replacement. */
const createsSomething = ({ step }: Decision): boolean => CREATES.has(step);

/** Whether a step changes a resource other than by taking something away. */
const addsSomething = (step: Decision): boolean => step.step === "update" && step.operation.method !== "DELETE";

/** Whether a step ends something that cannot be brought back, or looks inside it right before. */
const endsSomething = (step: Decision): boolean =>
  ["inspect", "delete", "renew", "revoke"].includes(step.step) ||
  (step.step === "update" && step.operation.method === "DELETE");
