import type { Comparison, Desired, Inputs, Operation, Related } from "../../kinds/desired.ts";
import type { ResourceKind } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import type { AccountHandle } from "../accounts/accounts.ts";
import type { Claim, Intent } from "../state/intent.ts";
import type { Accepted, Failure, Memory } from "../state/memory.ts";
import type { ObjectKey } from "../state/object.ts";
import type { RecreatePolicy } from "../state/policies.ts";
import type { Absence } from "../state/presence.ts";
import type { Note } from "../state/published.ts";
import type { Obstacle } from "../status/reasons.ts";
import type { ResourceStatus } from "../status/schema.ts";
import type { Shared } from "./collections.ts";

/** What the platform side knows of the claimed resource. */
export type Observation =
  /** No read of it that counts; `tooLarge` names the limit that its list exceeds. */
  | { seen: "unknown"; tooLarge?: string }
  /** A read does not show it. Whether it is gone is what `absence` says, since when it is missed, `since`. */
  | {
      seen: "absent";
      asOf: number;
      absence: Absence;
      since: number;
      /** A log was read that would tell of its deletion. */
      logged: boolean;
      /** The deletion that the log tells of, in words for people: "by a@b at …". */
      deletion?: string;
    }
  | {
      seen: "present";
      asOf: number;
      busy: boolean;
      state: string;
      comparison: Comparison | undefined;
      /** A write that has to come before its deletion. */
      preDelete?: Operation;
      /** What of it is not understood: what would go with it is not known. */
      unclear?: string;
      /** It is there and does not work, for the reason that the platform gives. */
      broken?: string;
    };

/** The request that status speaks of, with what the platform last said about it. */
export interface PendingRequest {
  action: string;
  since: number;
  /**
   * `unanswered`: it was about to be sent, and whether it was taken is not known. `accepted`: a deletion that has no address
   * where it could be asked, and whose resource was still there when it was last looked for.
   */
  outcome: "unanswered" | "accepted" | "unknown" | "BUSY" | "DONE" | "FAILED";
  message?: string;
  /** While unanswered: when it is certain what became of it. */
  settledAt?: number;
  /** While unanswered: when the platform's log was last searched for it. */
  recalledAt?: number;
  /** It must not be sent twice, and what it was to bring is what is missing now. */
  unseen?: boolean;
}

/** What a search for the result of an open intent found. */
export interface Search {
  /** When the look began, which is what it can vouch for, and when it was over. */
  lookedAt: number;
  endedAt: number;
  /** How many looks in a row began when nothing could arrive any more. */
  looks: number;
  /** Ids that match and that no object claims. */
  matches: string[];
  /** Something that matches was accepted and is not visible yet. */
  pending: boolean;
  /** How many open intents, this one included, have the same body and parents; this one's place among them. */
  rivals: number;
  rank: number;
  /** A POST or a claim with the same body is under way at this moment. */
  inFlight: boolean;
}

/** What lives in a resource, or uses it. */
export interface Contents {
  /** Objects here that live in it or use it: those on their way out, and those whose staying is in the way. */
  leaving: string[];
  staying: string[];
  /** What the platform shows inside, and when that was read; undefined until it was looked at. */
  found: { asOf: number; names: readonly string[] } | undefined;
  verb: "still holds" | "is still used by";
  /** Objects of other namespaces are among them: only their owners decide about those. */
  guests: boolean;
  /** The owner allows the deletion of what is inside. */
  ignored: boolean;
}

/**
 * How the Secret of an object stands. `unread`: it seems to be missing, and has to be read by its name. `missing`: it is not
 * there, or does not hold the key of this resource. `outdated`: the key is right, and something else in it is not. `unmarked`:
 * what is in it is right, and its labels or its note are not.
 */
export type SecretState = "unknown" | "unread" | "missing" | "outdated" | "unmarked" | "current";

/** The Secret or ConfigMap of spec.output is not as it ought to be: when it is written, and what was in the way before. */
export type OutputState = "unknown" | { dueAt: number; obstacle?: Obstacle };

/**
 * What may be done about a field that cannot be changed; `allowedBy` is the word that allows to lose data. `final`: no policy
 * allows it.
 */
export type Verdict = "final" | "forbidden" | "allowed" | { allowedBy: string };

/** Everything a decision rests on: data only, taken from both caches at one moment. */
export interface View {
  /** On the clock of this process that never jumps, like every other time in a view. */
  now: number;
  kind: string;
  deleting: boolean;
  /** Since when this process knows what is wanted of the object now. */
  desiredSince: number;
  /** Until then the object is young: what it waits for usually comes in the same `kubectl apply`. */
  graceUntil: number;
  /** When its annotation is written anew, with the id, should it rest until then; undefined where that need not be. */
  annotateAt: number | undefined;
  paused: boolean;
  /** The namespace is being deleted, and takes no new objects. */
  terminating: boolean;
  hasFinalizer: boolean;
  /** The open intent stands in its annotation. */
  recorded: boolean;
  deletionPolicy: "Delete" | "Retain";
  /** When a resource that is not there any more is created again. */
  recreatePolicy: RecreatePolicy;
  /** Somebody has said that the resource is to be created anew. */
  recreateAsked: boolean;
  /** Nothing is ever written to the platform. */
  observed: boolean;
  /** The existing resource to take over; undefined when the object has one, or wants its own. */
  adopt: string | undefined;
  /** Fields that the platform cannot change and that have changed since creation; why; what may be done about it. */
  replacement: { fields: string[]; why: string[]; verdict: Verdict } | undefined;
  /** Undefined for an object without a resource. Found out when it is asked for: it takes a walk over many objects. */
  readonly contents: Contents | undefined;
  intent: Intent | undefined;
  /** The POST of the open intent was certainly not executed. */
  unsent: boolean;
  claim: Claim | undefined;
  /** The object has words that are signed with a key that is not here; the id in them, if any. */
  unknownKey: { id: string | undefined } | undefined;
  request: PendingRequest | undefined;
  /** What is claimed has failed before it was ever finished, and that is on record. */
  unfinished: boolean;
  /** What keeps the platform as a whole out of reach: the Account. */
  accountObstacle: Obstacle | undefined;
  /** What keeps spec from being turned into a body: references, Secrets, values. */
  specObstacle: Obstacle | undefined;
  /** A reference leads into another namespace and may not, or may no longer: nothing new is made. */
  ungranted: Obstacle | undefined;
  observation: Observation;
  search: Search | undefined;
  failure: Failure | undefined;
  /** The write that was last accepted, if its effect has not been seen. */
  accepted: Accepted | undefined;
  /** It cannot be created or deleted, only taken over and given back. */
  permanent: boolean;
  /** Spec asks for no resource. */
  unwanted: boolean;
  /** Something may have been made for it that it does not tell of, and the list that would show it has still to come. */
  unlisted: boolean;
  /** What spec names of the platform's catalogues was not looked up yet. */
  unchecked: boolean;
  /** The Secret for workloads; undefined for a kind without one. */
  secret: SecretState | undefined;
  /** When the Secret may be put right at the earliest, and what somebody has done to it. */
  repair: { at: number; why: string | undefined } | undefined;
  /** Undefined where spec.output is served, or there is none. */
  output: OutputState | undefined;
  /** When a new key is due, by its age or because somebody asked for one; wall time, by the platform's clock. */
  keyDueAt: number | undefined;
  /** Its key was made by somebody else, and a new one would end it. */
  othersKey: boolean;
  /** Its key is the resource itself: a new one is another resource, and the one before goes later. */
  successive: boolean;
  /** What came before the resource; when it was last looked for; whether its time is over. */
  previous: { asOf: number; isOver: boolean } | undefined;
  /** A renewal was begun that got no answer; whether its key is there all the same, in the Secret or in memory. */
  renewal: "lost" | "answered" | undefined;
  /** Wall time, by the platform's clock when that is ahead of ours. */
  platformNow: number;
  /** What was accepted is believed in for so long, though it cannot be seen. */
  believedMs: number;
  /** Until then the outcome of the open intent is open. */
  settledAt: number;
}

/** One object at one moment: the view that is decided on, and the handles that the step is performed with. */
export interface Context {
  key: ObjectKey;
  kind: ResourceKind;
  object: KubeObject;
  status: ResourceStatus;
  view: View;
  memory: Memory;
  desired: Desired | undefined;
  account: AccountHandle | undefined;
  /** The Account that is meant, whether it can be used or not. */
  accountKey: string | undefined;
  /** What the collection knows the claimed resource by. */
  identity: string;
  /** Undefined when spec or what it refers to cannot be read. */
  inputs: Inputs | undefined;
  shared: Shared | undefined;
  /** Members of another collection that its output shows. */
  related: Related | undefined;
  /** What the Secret with its key says about itself, or would say. */
  note: Note | undefined;
}
