import type { Comparison, Operation } from "../kinds/kind.ts";
import type { Claim, Intent } from "./intent.ts";
import type { Reason } from "./reasons.ts";

/** Something that keeps the object from going on; `stalled` when no waiting will mend it. */
export interface Obstacle {
  reason: Reason;
  message: string;
  stalled: boolean;
}

/** What the platform side knows of the claimed resource. */
export type Observation =
  /** No read of it that counts. */
  | { seen: "unknown" }
  /** A read says that it is not there; `confirmed` when it was looked for by its id as well, for some time. */
  | { seen: "absent"; asOf: number; confirmed: boolean }
  | {
      seen: "present";
      asOf: number;
      busy: boolean;
      state: string;
      comparison: Comparison | undefined;
      /** A write that has to come before its deletion. */
      farewell?: Operation;
      /** It is there and does not work, for the reason that the platform gives. */
      broken?: string;
    };

/** The request that status speaks of, with what the platform last said about it. */
export interface PendingRequest {
  action: string;
  since: number;
  /** `unanswered`: it was about to be sent, and whether it was taken is not known. */
  outcome: "unanswered" | "unknown" | "BUSY" | "DONE" | "FAILED";
  message?: string;
  /** It must not be sent twice, and what it was to bring is what is missing now. */
  unseen?: boolean;
}

/** What a search for the result of an open intent found. */
export interface Search {
  /** When the look began, which is what it can vouch for, and when it was over. */
  lookedAt: number;
  endedAt: number;
  /** Ids that match and that no object claims. */
  matches: string[];
  /** Something that matches was accepted and is not visible yet. */
  pending: boolean;
  /** How many open intents, this one included, have the same body and parents; this one's place among them. */
  rivals: number;
  rank: number;
  /** A POST or a claim with the same body is under way at this moment, or more may appear than was asked for. */
  inFlight: boolean;
}

/** What lives in a resource, or uses it. */
export interface Contents {
  /** Objects here that live in it or use it: those on their way out, and those whose staying is in the way. */
  leaving: string[];
  staying: string[];
  /** What the platform shows inside; undefined until it was looked at. */
  found: string[] | undefined;
  verb: "still holds" | "is still used by";
  /** Deletion is wanted all the same. */
  ignored: boolean;
}

/** How the Secret of an object stands. `missing` when it is not there, or holds no key of this resource. */
export type SecretState = "unknown" | "missing" | "outdated" | "current";

/** An attempt that the platform refused or failed at. */
export interface Failure {
  reason: Reason;
  message: string;
  /** The same attempt is made again when this has passed, or when spec changes. */
  retryAt: number;
}

/** Everything a decision rests on: data only, taken from both caches at one moment. */
export interface View {
  now: number;
  noun: string;
  deleting: boolean;
  paused: boolean;
  hasFinalizer: boolean;
  deletionPolicy: "Delete" | "Retain";
  /** Nothing is ever written to the platform. */
  observed: boolean;
  /** The existing resource to take over; undefined when the object has one, or wants its own. */
  adopt: string | undefined;
  /** Fields that the platform cannot change and that have changed since creation; why; what may be done about it. */
  replacement: { fields: string[]; why: string[]; verdict: "forbidden" | "losesData" | "allowed" } | undefined;
  /** Undefined for an object without a resource. */
  contents: Contents | undefined;
  intent: Intent | undefined;
  /** The POST of the open intent was certainly not executed. */
  unsent: boolean;
  claim: Claim | undefined;
  request: PendingRequest | undefined;
  /** What is claimed has failed before it was ever finished, and that is on record. */
  unfinished: boolean;
  /** What keeps the platform as a whole out of reach: the Account. */
  accountObstacle: Obstacle | undefined;
  /** What keeps spec from being turned into a body: references, Secrets, values. */
  specObstacle: Obstacle | undefined;
  observation: Observation;
  search: Search | undefined;
  failure: Failure | undefined;
  /** It cannot be created or deleted, only taken over and given back. */
  permanent: boolean;
  /** What is seen under its id may be somebody else's: only its request tells what became of it. */
  reusesIds: boolean;
  /** The Secret for workloads; undefined for a kind without one. */
  secret: SecretState | undefined;
  /** A new key is due: by its age, or because somebody asked for one. */
  keyDue: boolean;
  /** Its key was made by somebody else, and a new one would end it. */
  othersKey: boolean;
  /** What the platform's clock says, when it is ahead of ours. */
  platformNow: number;
  /** From its sending on, a creation may still be executed (deadline) and become visible (settle) for so long. */
  unsettledMs: number;
  /** Until then the outcome of the open intent is open. */
  settledAt: number;
}

export type Decision =
  /** Nothing of ours. */
  | { step: "ignore" }
  /** As wanted. */
  | { step: "rest" }
  /** The platform or another object has to move first. */
  | { step: "wait"; reason: Reason; message: string; look?: Look; recheckMs?: number }
  /** Somebody has to change something; `retryMs` when time may help as well. */
  | { step: "stall"; reason: Reason; message: string; retryMs?: number }
  /** The request failed: write it down, then try again later. */
  | { step: "fail"; reason: Reason; message: string; gone: boolean }
  | { step: "create" }
  /** Take over an existing resource; without an id the only one there is. */
  | { step: "adopt"; id?: string }
  /** Look what is inside before it goes. */
  | { step: "inspect" }
  /** Look for what an open intent made. */
  | { step: "search" }
  | { step: "claim"; id: string }
  /** The resource is gone without us: let go of its id. */
  | { step: "forget" }
  | { step: "update"; operation: Operation }
  /** Make a new key for the Secret, or bring the rest of it up to date. */
  | { step: "renew" }
  | { step: "publish" }
  /** Find out what became of a write that got no answer. */
  | { step: "recall" }
  | { step: "delete"; action: "delete" | "replace" }
  | { step: "release"; reason: Reason; message: string };

/** What to ask the platform side for while waiting: a fresh list, or this very member and its request. */
export type Look = "list" | "member";
