import type { Comparison, Desired, Drift, Inputs, Operation, Publication, Related } from "../../kinds/desired.ts";
import type { ResourceKind } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import type { Item } from "../../platform/collections/collection.ts";
import type { AccountHandle } from "../accounts/accounts.ts";
import type { Claim, Intent } from "../state/intent.ts";
import type { Accepted, Failure, Inside, Memory, OpenCreation, SearchResult } from "../state/memory.ts";
import type { ObjectKey } from "../state/object.ts";
import type { RecreatePolicy } from "../state/policies.ts";
import type { Absence } from "../state/presence.ts";
import type { Note } from "../state/published.ts";
import type { Obstacle } from "../status/reasons.ts";
import type { ResourceStatus } from "../status/schema.ts";
import type { Shared } from "./resource/collections.ts";

/** Everything that a decision depends on: data only, taken from both caches at one moment. */
export interface View {
  kind: string;
  account: AccountView;
  spec: SpecView;
  resource: ResourceView;
  secrets: SecretsView;
  times: Times;
}

/** All but `platformNow` are on the monotonic clock of this process, like every other time in a view. */
export interface Times {
  now: number;
  /** Wall time: the platform's clock, as its Date headers tell. */
  platformNow: number;
  /** When this process first saw the current generation, annotations or deletion of the object. */
  desiredSince: number;
  /** Until then a new object does not report missing references: they are often part of the same `kubectl apply`. */
  graceUntil: number;
  /** When the id replaces the intent in the annotations, if the object is still up to date; undefined if that is done. */
  annotateAt: number | undefined;
  /** When the outcome of the open intent is certain. */
  settledAt: number;
  /** How long an accepted write may stay invisible. */
  believedMs: number;
}

export interface AccountView {
  /** The Account that spec or the claim names, also when it cannot be used. */
  key: string | undefined;
  /** Why the platform cannot be used through it. */
  obstacle: Obstacle | undefined;
}

export interface SpecView {
  deleting: boolean;
  paused: boolean;
  /** The namespace is being deleted and accepts no new objects. */
  terminating: boolean;
  deletionPolicy: "Delete" | "Retain";
  recreatePolicy: RecreatePolicy;
  /** The annotation mooring.dev/recreate names the claimed resource, and was set after status said that it is gone. */
  recreateAsked: boolean;
  /** managementPolicy is Observe: nothing is written to the platform. */
  observed: boolean;
  /** Id of the existing resource to adopt; undefined for an object with a claim. */
  adopt: string | undefined;
  /** Spec asks for no resource. */
  unwanted: boolean;
  /** Spec names an entry of a platform catalogue that was not looked up yet. */
  unchecked: boolean;
  replacement: Replacement | undefined;
  /** Why spec cannot be turned into a request body: references, Secrets, values. */
  obstacle: Obstacle | undefined;
  /** Fields that spec leaves out and references that are not Ready: nothing can be created without them. */
  lacking: Obstacle | undefined;
  /** A reference into another namespace that no Grant allows. */
  ungranted: Obstacle | undefined;
}

/** Immutable fields that differ from the resource, why they are immutable, and what may be done. */
export interface Replacement {
  fields: string[];
  why: string[];
  verdict: Verdict;
  /** The differences of fields that spec had not stated before; whether a replacement would lose data. */
  late?: { drift: readonly Drift[]; holdsData: boolean };
}

/** Whether a replacement may apply a changed immutable field. `allowedBy` is the annotation that accepts the data loss. */
export type Verdict = "final" | "kept" | "forbidden" | "allowed" | { allowedBy: string };

/** The resource on the platform, and what Mooring has begun there. */
export interface ResourceView {
  /** It cannot be created or deleted, only adopted and released. */
  permanent: boolean;
  /** A key is a resource of its own: a new key is a new resource, and the previous one is deleted later. */
  successive: boolean;
  hasFinalizer: boolean;
  /** The annotation with the open intent is there. */
  recorded: boolean;
  intent: Intent | undefined;
  /** The POST of the open intent was certainly not executed. */
  unsent: boolean;
  search: Search | undefined;
  claim: Claim | undefined;
  /** The object is signed with a key that this operator does not have; `id` is the resource it names. */
  unknownKey: { id: string | undefined } | undefined;
  request: PendingRequest | undefined;
  /** Id that a creation was answered with, which cannot have made it. */
  refused?: string | undefined;
  /** The creation of the claimed resource failed. */
  unfinished: boolean;
  observation: Observation;
  /** Undefined without a claim. A getter, because it walks over many objects. */
  readonly contents: Contents | undefined;
  failure: Failure | undefined;
  /** The last accepted write whose effect has not been seen. */
  accepted: Accepted | undefined;
  /** The object may come from a backup, and the list that would show its resource was not read yet. */
  unlisted: boolean;
}

/** The claimed resource, as a read of the platform shows it. */
export type Observation =
  /** It was not read yet. `partial`: why its list does not show all members. */
  | { seen: "unknown"; partial?: Obstacle }
  | {
      seen: "absent";
      asOf: number;
      absence: Absence;
      /** Since when it is missing. */
      since: number;
      /** A log was read that records deletions. */
      logged: boolean;
      /** How it was deleted, for messages: "outside Mooring by a@b at …", "with Server web". */
      deletion?: string;
    }
  | {
      seen: "present";
      asOf: number;
      busy: boolean;
      comparison: Comparison | undefined;
      /** A write that must come before its deletion. */
      preDelete?: Operation;
      /** Users on the platform that are not deleted with the object. */
      users?: string[];
      /** Why the answer was not understood: then it is not known what a deletion would take along. */
      unclear?: string;
      /** Why its creation cannot have made it, and since which read. One answer may have a wrong date. */
      refused?: { why: string; since: number };
      /** Why the platform says that it does not work. */
      broken?: string;
    };

/** The request in status, with its last known outcome. */
export interface PendingRequest {
  action: string;
  since: number;
  /** `unanswered`: it may or may not be executed. `accepted`: a deletion whose request has no address to ask at. */
  outcome: "unanswered" | "accepted" | "unknown" | "BUSY" | "DONE" | "FAILED";
  message?: string;
  /** The kind's status fields that follow from it, unless it failed. */
  marks?: Readonly<Record<string, string>>;
  /** While unanswered: when its outcome is certain. */
  settledAt?: number;
  /** While unanswered: when the platform's log was last searched for it. */
  recalledAt?: number;
  /** It must not be sent twice, and the comparison would send it again. */
  unseen?: boolean;
}

/** The result of a search for the resource of an open intent. */
export interface Search extends Omit<SearchResult, "matches" | "unseen"> {
  /** Ids that match and that no object claims. */
  matches: string[];
  /** How many open intents have the same body and parents, and the position of this one among them, the oldest first. */
  rivals: number;
  rank: number;
  /** A POST or a claim for one of them is running now. */
  inFlight: boolean;
  foreign?: OpenCreation["foreign"];
}

/** The contents and users of a resource: objects that are being deleted, and objects that block the deletion. */
export interface Contents {
  leaving: string[];
  staying: string[];
  /** The contents that the platform shows; undefined until it is read. */
  found: Readonly<Inside> | undefined;
  verb: "still holds" | "is still used by";
  /** Some of the objects are in other namespaces: only their owners may delete them. */
  guests: boolean;
  /** An annotation allows the deletion of what is inside. */
  ignored: boolean;
}

export interface SecretsView {
  /** Undefined for a kind without a Secret. */
  secret: SecretState | undefined;
  /** When the Secret may be repaired at the earliest, and what was changed in it. */
  repair: { at: number; why: string | undefined } | undefined;
  /** When a new key is due, by its age or by annotation; on the platform's clock. */
  keyDueAt: number | undefined;
  /** A renewal got no answer. `answered`: its key is in the Secret or in memory. */
  renewal: "lost" | "answered" | undefined;
  /** The key was not made by Mooring, and a new one would end it. */
  othersKey: boolean;
  /** The previous resource of a successive key: when it was last read, and whether its time is over. */
  previous: { asOf: number; isOver: boolean } | undefined;
  /** Undefined if spec.output is absent or up to date. */
  output: OutputState | undefined;
}

/**
 * `unread`: it seems to be missing and must be read by name. `missing`: it does not exist, or has no key of this resource.
 * `outdated`: the key is right, another entry is not. `unmarked`: all entries are right, its labels or its note are not.
 */
export type SecretState = "unknown" | "unread" | "missing" | "outdated" | "unmarked" | "current";

/** When the Secret or ConfigMap of spec.output is written next, and why the last attempt failed. */
export type OutputState = "unknown" | { dueAt: number; obstacle?: Obstacle };

/** One object at one moment: the view to decide on, and the handles to execute the step with. */
export interface Context {
  key: ObjectKey;
  kind: ResourceKind;
  object: KubeObject;
  status: ResourceStatus;
  memory: Memory;
  view: View;
  /** Undefined when spec cannot be read. */
  desired: Desired | undefined;
  /** The Secret for workloads. */
  publication: Publication | undefined;
  account: AccountHandle | undefined;
  /** Undefined when spec or a reference cannot be read. */
  inputs: Inputs | undefined;
  shared: Shared | undefined;
  /** Identity of the claimed resource in its collection, and what that shows of it. */
  identity: string;
  item: Item | undefined;
  /** Members of another collection that the output shows. */
  related: Related | undefined;
  /** The note of the Secret with the key, as it is or should be. */
  note: Note | undefined;
}

/** One object, with what it owns or has begun. The four parts of a view are observed from it. */
export interface Subject
  extends Pick<Context, "key" | "kind" | "object" | "status" | "memory" | "desired" | "publication"> {
  claim: Claim | undefined;
  intent: Intent | undefined;
  adopt: string | undefined;
  /** Why spec cannot be read. */
  unreadable: Obstacle | undefined;
}
