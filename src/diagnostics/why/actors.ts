import { needsPerson, type Reason, reasons } from "../../engine/status/reasons.ts";

/** The party that must act before an object can proceed. */
export type Actor = "you" | "administrator" | "account" | "contract" | "operator" | "nobody";

/** Reasons of a Ready object, or only of Events. */
const informative: ReadonlySet<string> = new Set<Reason>([
  "Available",
  "Observed",
  "Paused",
  "ClockSkew",
  "Retained",
  "Created",
  "CertificateIssued",
  "OutputCreated",
  "KeyIssued",
  "Updated",
  "DriftCorrected",
  "Deleted",
  "Claimed",
  "Advice",
]);

/** Reasons that need a right over the operator or the cluster. */
const administrators: ReadonlySet<string> = new Set<Reason>([
  "AccountNotAllowed",
  "EndpointNotAllowed",
  "TooManyObjects",
  "SigningKeyUnknown",
  "ClockSkew",
]);

/** Reasons that only somebody with rights on the platform can end. */
const ofContract: ReadonlySet<string> = new Set<Reason>(["QuotaExceeded", "Forbidden"]);

/** The missing object may be about to be created, so this one is not Stalled; but a user has to create or name it. */
const missing: ReadonlySet<string> = new Set<Reason>(["AccountNotFound", "ReferenceNotFound", "SecretNotFound"]);

/** Whether a person has to act, and not the operator. */
export const needsSomebody = (actor: Actor): boolean => actor !== "operator" && actor !== "nobody";

const isReason = (name: string): name is Reason => Object.hasOwn(reasons, name);

export function actorOf(reason: string): Actor {
  if (!isReason(reason)) return "operator";
  if (administrators.has(reason)) return "administrator";
  if (ofContract.has(reason)) return "contract";
  if (reason === "Unauthorized") return "account";
  if (informative.has(reason)) return "nobody";
  return needsPerson(reason) || missing.has(reason) ? "you" : "operator";
}

export const isStalled = (reason: Reason): boolean => needsPerson(reason) && !informative.has(reason);

const acting: Record<Actor, string> = {
  you: "you: a user who may edit the object, or the objects that it refers to",
  administrator: "the administrator of the cluster or of the operator",
  account: "a user who may edit the Secret of the Account",
  contract: "the administrator of the contract, on the platform",
  operator: "the operator: it continues or retries automatically",
  nobody: "nobody",
};
export const actorInWords = (actor: Actor): string => acting[actor];

/** The state of the object, and what ends it. */
const states: Readonly<Record<Actor, string>> = {
  you: "The object is `Stalled` until somebody corrects it, or an object that it names.",
  administrator: "Only an administrator of the cluster or of the operator can change this.",
  account:
    "The Account is `Stalled` until somebody puts a valid token, of the same user, into its Secret. It is used at once.",
  contract:
    "The object is `Stalled` until somebody changes this on the platform, such as the administrator of the contract.",
  operator: "The object is `Reconciling`: it goes on by itself as soon as it can.",
  nobody: "Nothing is wrong with the object.",
};

const AWAITED =
  "The object is `Reconciling`: it goes on by itself as soon as somebody has created or named what is missing.";
const RETRIED = "Meanwhile the operator tries again, after 1, 2, 4 … 32 minutes.";
const REPEATED = "The object is `Stalled`, and the operator tries again at growing intervals.";

/** Reasons for which the sentence about the actor would be wrong or incomplete. */
const special: Readonly<Partial<Record<Reason, string>>> = {
  QuotaExceeded: `${states.contract} ${RETRIED}`,
  Forbidden: `${states.contract} ${RETRIED}`,
  Rejected: `${states.you} ${RETRIED}`,
  ProvisioningFailed: REPEATED,
  NotApplied: REPEATED,
  InvalidCertificate: REPEATED,
  InvalidAnswer: REPEATED,
  Missing: "The object is `Stalled`. It is Ready again as soon as the resource is seen.",
  InUse: "The object is `Stalled`. Its deletion goes on by itself when no object uses it any more.",
};

/** The state in Markdown, as `mooring explain`, the tools and the page of the reasons show it. */
export const stateOf = (reason: Reason): string =>
  special[reason] ?? (missing.has(reason) ? AWAITED : states[actorOf(reason)]);
