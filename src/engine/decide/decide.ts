import { nothingElseCreated } from "../../platform/collections/misanswer.ts";
import type { ResourceView, View } from "../observe/view.ts";
import type { Reason } from "../status/reasons.ts";
import { decideClaimed } from "./claimed.ts";
import type { Decision } from "./decision.ts";
import { decideDeletion, lackOfEvidence } from "./deletion.ts";
import { decideRecovery } from "./recovery.ts";
import { afterFailure, awaitingFirstRead, blockedBy, deletionOf, RECHECK_MS, repetition } from "./waiting.ts";

/**
 * The next step for one object. Pure: the same view gives the same decision.
 *
 * Flow: the first rule that answers chooses the step. Then the first guarantee that answers replaces it.
 *
 * Guarantees, for every view: a creation only when no intent is open, or when its outcome is certain and a later search found
 * nothing; a deletion only of a claimed resource, on a read that began after the request for it; nothing is sent to the platform
 * when paused, or during the backoff after a failure; always a step or a reason.
 *
 * Assumptions: all times of a view are on one monotonic clock, and both caches were read at one moment.
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
  /** The API server deletes it without Mooring. */
  released: ({ spec, resource }) => (spec.deleting && !resource.hasFinalizer ? { step: "ignore" } : undefined),
  /** The annotation counts also during a deletion. */
  paused: ({ spec }) => (spec.paused ? { step: "pause" } : undefined),
  /** A resource that its creation cannot have made is not its own, whoever has it. */
  misanswered: ({ spec, resource: { observation }, times }) => {
    const isKept = spec.observed || spec.deletionPolicy === "Retain";
    if (observation.seen !== "present" || !observation.refused || (spec.deleting && isKept)) return undefined;
    const { why: message, since } = observation.refused;
    if (observation.asOf - since >= times.believedMs && !spec.observed) return { step: "forget" };
    return { step: "wait", reason: "PlatformUnavailable", message, read: "member", recheckMs: RECHECK_MS * 5 };
  },
  /** Needs only the claim or the intent. */
  deleted: (view) => (view.spec.deleting ? decideDeletion(view) : undefined),
  /** A claim or an intent that cannot be verified: nothing is done. */
  signedByUnknownKey: ({ kind, resource }) => resource.unknownKey && unknownKey(kind, resource.unknownKey),
  /** Without its Account nothing can be read or sent. */
  accountBlocked: ({ account }) => account.obstacle && blockedBy(account.obstacle),
  /** A creation was begun and is not answered: search before anything else, also before an adoption. */
  creationOpen: (view) => {
    const { intent } = view.resource;
    const isOver = intent?.succeeds !== undefined || view.spec.adopt !== undefined;
    return intent && decideRecovery(view, isOver ? { step: "retract" } : decideCreation(view));
  },
  /** It only observes its resource. */
  observed: (view) => (view.resource.claim && view.spec.observed ? decideClaimed(view) : undefined),
  /** It has a resource. */
  claimed: (view) => view.resource.claim && decideClaimed(view),
  /** It names an existing resource that it does not own yet. */
  adoption: ({ spec: { adopt, unwanted, observed, obstacle } }) => {
    if (adopt === undefined || (unwanted && !observed)) return undefined;
    return obstacle ? blockedBy(obstacle) : { step: "adopt", id: adopt };
  },
} satisfies Record<string, (view: View) => Decision | undefined>;

function decideCreation(view: View): Decision {
  const { kind, spec, resource, secrets } = view;
  if (spec.observed && !resource.permanent) {
    return { step: "stall", reason: "InvalidSpec", message: "managementPolicy Observe needs spec.externalId" };
  }
  if (resource.refused !== undefined) {
    const message = nothingElseCreated(kind, resource.refused);
    return spec.recreateAsked ? { step: "retract" } : { step: "stall", reason: "AlreadyExists", message };
  }
  if (spec.obstacle) return blockedBy(spec.obstacle);
  if (spec.unchecked) return { step: "check" };
  if (spec.unwanted) return { step: secrets.previous ? "revoke" : "idle" };
  if (spec.lacking && !resource.permanent) return blockedBy(spec.lacking);
  if (resource.unlisted) return awaitingFirstRead(view);
  return resource.permanent ? { step: "adopt" } : { step: "create" };
}

function unknownKey(kind: string, { id }: NonNullable<ResourceView["unknownKey"]>): Decision {
  const what = id === undefined ? `has begun to create its ${kind}` : `owns ${kind} ${id}`;
  const again = id === undefined ? "with externalId if one was made" : `with externalId: ${id}`;
  const message = `the object ${what}, signed with a key that this operator does not have: restore Secret mooring-signing-key; without it, delete the object, which keeps the ${kind} on the platform, and create it again ${again}`;
  return { step: "stall", reason: "SigningKeyUnknown", message };
}

/** The guarantees for every step, in this order. */
const guarantees = {
  /** An object with a resource needs its finalizer, and one with an open intent its annotation. */
  marked: ({ spec, resource: { hasFinalizer, recorded, claim, intent } }) => {
    const isUnmarked = hasFinalizer ? intent && !recorded : (claim || intent) && !spec.deleting;
    return isUnmarked ? { step: "mark" } : undefined;
  },
  /** A namespace that is being deleted accepts nothing new. */
  namespaceTerminating: ({ spec }, step) => {
    if (!spec.terminating || spec.deleting || !createsSomething(step)) return undefined;
    const message = "the namespace is being deleted: nothing is created or renewed in it";
    return { step: "wait", reason: "NamespaceTerminating", message };
  },
  /** Without a Grant nothing is created or changed for a reference into another namespace. */
  notGranted: ({ spec: { ungranted, deleting } }, step) => {
    if (!ungranted || deleting) return undefined;
    return createsSomething(step) || addsSomething(step) ? blockedBy(ungranted) : undefined;
  },
  /** A new object usually waits for something in the same `kubectl apply`: no status is written for that. */
  graceTime: ({ resource, times: { now, graceUntil } }, step) => {
    const waits = (step.step === "wait" || step.step === "stall") && REPORTED_LATER.includes(step.reason);
    if (!waits || resource.claim || now >= graceUntil) return undefined;
    return { ...step, step: "wait", reason: "Observing", recheckMs: graceUntil - now };
  },
  /** Nothing is sent during the backoff after a failure. */
  backoff: (view, step) => (callsPlatform(step) ? afterFailure(view) : undefined),
  /** A write that was accepted without effect is not repeated at once. */
  repeatedWrite: (view, step) => {
    if (step.step === "delete") return repetition(view, deletionOf(view.resource.claim));
    return step.step === "update" ? repetition(view, step.operation) : undefined;
  },
  /** A destructive step needs a read that is fresh and understood. */
  evidence: (view, step) => {
    const { observation } = view.resource;
    const present = observation.seen === "present" ? observation : undefined;
    const read = step.step === "revoke" ? view.secrets.previous : present;
    return read && endsSomething(step) ? lackOfEvidence(view, read) : undefined;
  },
} satisfies Record<string, (view: View, step: Decision) => Decision | undefined>;

/** Reasons that a new object does not report at first. */
const REPORTED_LATER: readonly Reason[] = [
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

/** Whether a step sends a request to the platform for this object alone. */
const callsPlatform = (step: Decision): boolean => CALLS.has(step.step) || ("read" in step && step.read === "member");

const CREATES: ReadonlySet<Decision["step"]> = new Set(["create", "adopt", "renew", "publish", "output", "delete"]);

/** Whether a step creates something in the namespace. A deletion here is the first half of a replacement. */
const createsSomething = ({ step }: Decision): boolean => CREATES.has(step);

/** Whether a step changes a resource other than by removing something. */
const addsSomething = (step: Decision): boolean => step.step === "update" && step.operation.method !== "DELETE";

/** Whether a step destroys something, or reads what is inside right before. */
const endsSomething = (step: Decision): boolean =>
  ["inspect", "delete", "renew", "revoke"].includes(step.step) ||
  (step.step === "update" && step.operation.method === "DELETE");
