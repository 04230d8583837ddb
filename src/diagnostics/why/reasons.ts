import { needsPerson, type Reason, reasons } from "../../engine/status/reasons.ts";

/** Who must act before an object can proceed. */
export type Actor = "you" | "administrator" | "operator" | "nobody";

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

/** What is missing may be about to be created, so the object is not Stalled; but a user has to create or name it. */
const missing: ReadonlySet<string> = new Set<Reason>(["AccountNotFound", "ReferenceNotFound", "SecretNotFound"]);

export const isReason = (name: string): name is Reason => Object.hasOwn(reasons, name);
export const reasonNames: readonly Reason[] = Object.keys(reasons).filter(isReason).sort();

export function actorOf(reason: string): Actor {
  if (!isReason(reason)) return "operator";
  if (administrators.has(reason)) return "administrator";
  if (informative.has(reason)) return "nobody";
  return needsPerson(reason) || missing.has(reason) ? "you" : "operator";
}

const acting: Record<Actor, string> = {
  you: "you: a user who may edit the object, or the objects that it refers to",
  administrator: "the administrator of the cluster or of the operator",
  operator: "the operator: it continues or retries automatically",
  nobody: "nobody",
};
export const actorInWords = (actor: Actor): string => acting[actor];

/** The description of a reason. */
export function explainReason(asked: string) {
  const reason = reasonNames.find((name) => name.toLowerCase() === asked.toLowerCase());
  if (reason === undefined) throw new Error(`there is no reason "${asked}"${nearest(asked)}`);
  return pageOf(reason);
}

export const pageOf = (reason: Reason) => ({
  reason,
  meaning: reasons[reason],
  acts: actorOf(reason),
  stalled: needsPerson(reason) && !informative.has(reason),
  page: `docs/reference/reasons.md#${reason.toLowerCase()}`,
});

function nearest(asked: string): string {
  const wanted = asked.toLowerCase();
  const like = reasonNames.filter((name) => name.toLowerCase().includes(wanted) || wanted.includes(name.toLowerCase()));
  return like.length === 0 ? "" : `; did you mean ${like.slice(0, 4).join(", ")}`;
}
