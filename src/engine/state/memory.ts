import { isDeepStrictEqual } from "node:util";
import { type KubeObject, LAST_APPLIED } from "../../kube/resource.ts";
import type { Progress } from "../../platform/activity/progress.ts";
import type { Reply } from "../../platform/calls/transport.ts";
import type { Taken } from "../../platform/export/step.ts";
import type { Attempt } from "../../runtime/attempt.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Obstacle, Reason } from "../status/reasons.ts";
import type { ResourceStatus } from "../status/schema.ts";
import { readStatus } from "../status/status.ts";
import type { Intent, writeKeyOf } from "./intent.ts";
import { EXTERNAL_ID, INTENT } from "./names.ts";
import { type ObjectKey, openIntent } from "./object.ts";
import type { AbsenceFacts } from "./presence.ts";
import type { Succession } from "./succession.ts";

/** An attempt that the platform refused or failed at. */
export interface Failure extends Obstacle {
  /** Nothing is sent to the platform before this, unless spec changes. */
  retryAt: number;
}

/** A write that the platform has accepted and whose effect has not been seen, of this generation of the object. */
export interface Accepted {
  /** Undefined where only status tells that there was one. */
  write?: ReturnType<typeof writeKeyOf> | undefined;
  generation: number;
  times: number;
  /** When it was last accepted, and when it may be sent again. */
  at: number;
  retryAt: number;
}

export const isAccepted = ({ write }: Accepted, { call, hash }: ReturnType<typeof writeKeyOf>): boolean =>
  write === undefined || (write.call === call && write.hash === hash);

/** After this many times status says NotApplied. */
export const MOST_ACCEPTED = 4;

/** A key and the answer that had it, until both are in the Secret. */
export interface Issued {
  key: string;
  answer: unknown;
}

/** The result of a creation. */
export interface Made {
  id: string;
  born?: string | undefined;
  /** An older resource cannot be the result, whoever names it. */
  notBefore?: string | undefined;
  request?: Reply["request"];
}

/** The last search for the result of a creation. */
export interface SearchResult {
  /** Only what existed when the search began is certainly found. */
  beganAt: number;
  endedAt: number;
  /** How many searches in a row, this one included, began after the outcome was settled: nothing can arrive any more. */
  settledSearches: number;
  /** The platform has accepted something that matches and does not show it yet. */
  pending: boolean;
  /** Matching resources, by identity. */
  matches: ReadonlyMap<string, Made>;
  /** The absence of each match that has an id and is not seen. */
  unseen: ReadonlyMap<string, AbsenceFacts>;
}

/**
 * How far the last creation of an object has come, as far as this process knows. One that another process has begun is `sent`.
 * `unsent` is certainly not executed: nothing has left, or it was refused.
 */
export type OpenCreation = {
  intent: Intent;
  /** When it was begun, or first seen by this process. */
  begunAt: number;
  /** This process has begun it: no other one has an answer to it. */
  own?: boolean;
  /** The call and the status with which something else than the platform answered. */
  foreign?: { call: string; status: number } | undefined;
} & (
  | { phase: "unsent" }
  /** The POST is under way at this moment. */
  | { phase: "posting" }
  /** It may have been executed: only a search can tell. */
  | { phase: "sent"; search?: SearchResult }
  /** Made, and the claim is not written yet. After a crash, a search finds it. `searched`: no answer names it, a search has found it. */
  | { phase: "made"; made: Made; issued?: Issued; searched?: boolean }
  /** The claim is written. The creation is undone if the API server drops the object despite its finalizer. */
  | { phase: "claimed"; made: Made }
);

/** A creation that was begun, however far it has come. */
export type Begun = Pick<OpenCreation, "intent" | "begunAt" | "own" | "foreign">;

/** A reading of the contents of a resource. `since` is the time of the first one in a row that shows nothing. */
export interface Inside {
  asOf: number;
  names: readonly string[];
  since: number;
}

/** Since when this process knows something, by its own clock. */
interface FirstSeen {
  what: string;
  at: number;
}

/** The memory that this process has of one object. It saves work; nothing goes wrong when it is lost. */
export interface Memory {
  /** `attempts` counts apart those that time may help and those that need a person: each has a backoff of its own. */
  failure?: (Failure & { at: number; generation: number; attempts: Record<"waited" | "stalled", number> }) | undefined;
  accepted?: Accepted | undefined;
  /** The accepted write to the resource `id` that status does not have yet, and the request that status has instead. */
  unwritten?: { request: Request; at: number; id: string | undefined; before: Request | undefined } | undefined;
  /** The last reason of the Ready condition, and since when. */
  condition?: { reason: Reason; since: number } | undefined;
  /** The last warning Event of this generation, and when the next one may follow. */
  lastEvent?: { text: string; generation: number; times: number; nextAt: number } | undefined;
  creation?: OpenCreation | undefined;
  /** The intent or request that is on record. */
  begun?: FirstSeen | undefined;
  /** Of an Account: how far the platform's clock was ahead when that was last reported. */
  skewMs?: number | undefined;
  /** The previous token, which is to be deleted. */
  previous?: FirstSeen | undefined;
  /** The last token that was made for the object. */
  succession?: Succession | undefined;
  /** Of an Account: the token that is being made for it. */
  login?: FirstSeen | undefined;
  /** The desired state: spec, deletion, annotations. */
  desired?: FirstSeen | undefined;
  /** When the platform's log was last searched for a write that got no answer. */
  recalledAt?: number | undefined;
  /** The new key that answers the renewal with this nonce, until it is in its Secret. */
  renewed?: (Issued & { nonce: string }) | undefined;
  absence?: AbsenceFacts | undefined;
  /** Since when each read of the resource contradicts the answer to its creation. */
  refusedSince?: number | undefined;
  /** When a list last showed the resource, by the earlier of the two clocks. */
  seenAt?: number | undefined;
  /** When the object gave its previous resource up. */
  goneAt?: number | undefined;
  /** When the resource and its request were last read one by one. */
  askedAt?: number | undefined;
  /** The contents of the resource when they were last read. */
  contents?: Inside | undefined;
  /** The platform has no newer certificate than the one that is due: when to ask again. */
  renewAfter?: number | undefined;
  /** Ids of tokens of which some may be the result of a lost creation. They expire by themselves. */
  unclaimed?: readonly string[] | undefined;
  /** The facts of a catalogue of the platform about a value in spec. */
  checked?: { what: string; facts: Readonly<Record<string, unknown>> } | undefined;
  /** The last write of spec.output, of the annotation with the id, of a new key for a lost one, and of the rest of its Secret. */
  output?: (Attempt & { obstacle?: Obstacle | undefined }) | undefined;
  renamed?: Attempt | undefined;
  /** The last writes to the object itself, for this desired state. */
  writes?: { metadata?: Attempt; status?: Attempt } | undefined;
  renewal?: Attempt | undefined;
  repair?: (Attempt & { obstacle?: Obstacle | undefined }) | undefined;
  /** The progress of an export since the record in status, where that is not worth a write. */
  exported?: { recorded: unknown; progress: Progress } | undefined;
  /** A delivery of an export that status does not have yet. */
  taken?: Taken | undefined;
  /**
   * Its resource may be there unclaimed, after a backup or a lost answer to this intent: nothing is created before a later list.
   * `lost`: the identity of the resource that the object claimed before the API server was restored to an earlier state.
   */
  doubt?: { since: number; intent?: Intent; lost?: string | undefined } | undefined;
  /** The unclaimed resources of the same name that were found since then. */
  lookalikes?: readonly string[];
  /** When the last pass began. */
  reconciledAt?: number | undefined;
  /** When the object was first seen at rest with its intent still in place. */
  restingSince?: number | undefined;
}

/** Status, with the request that it does not have yet. Another request or resource in status, for example of another shard, is newer. */
export function statusIn(object: KubeObject, { unwritten }: Memory): ResourceStatus {
  const status = readStatus(object);
  const isNewest = status.id === unwritten?.id && isDeepStrictEqual(status.request, unwritten?.before);
  return unwritten && isNewest ? { ...status, request: unwritten.request } : status;
}

export type Memories = ReturnType<typeof createMemories>;

export function createMemories({ monotonic }: Pick<Clock, "monotonic">) {
  const memories = new Map<ObjectKey, Memory>();
  const of = (key: ObjectKey): Memory => {
    const memory = memories.get(key) ?? {};
    memories.set(key, memory);
    return memory;
  };
  /** When this process last saw that the API server was set back to an earlier state. */
  const rewound: { at?: number } = {};
  return {
    of,
    /** Which object is adopting an existing resource at this moment, by kind and id. */
    adopters: new Map<string, ObjectKey>(),
    rewound,
    /** Takes in every version of an object, in their order. */
    observe(key: ObjectKey, object: KubeObject): void {
      const memory = of(key);
      const desired = desiredVersionOf(object);
      if (memory.desired?.what !== desired)
        Object.assign(memory, { desired: { what: desired, at: monotonic() }, writes: undefined });
      const begun = begunIn(object);
      const since = memory.begun?.at;
      // This process notes its own intents before they are on record.
      if (begun === undefined) memory.begun = undefined;
      else if (memory.begun?.what !== begun) memory.begun = { what: begun, at: monotonic() };
      if (memory.begun?.at !== since) memory.recalledAt = undefined;
    },
    /** Ends the backoff of a failure or an accepted write from before `until`: its cause may be gone. */
    clearFailure(key: ObjectKey, until: number): void {
      const memory = of(key);
      if (memory.failure && memory.failure.at <= until) memory.failure = undefined;
      const { accepted } = memory;
      if (accepted && accepted.at <= until) accepted.retryAt = Math.min(accepted.retryAt, until);
    },
    /** Whether a pass has begun, after `since` if given: a change from before it needs no further pass. */
    hasReconciled(key: ObjectKey, since = Number.NEGATIVE_INFINITY): boolean {
      const { reconciledAt } = memories.get(key) ?? {};
      return reconciledAt !== undefined && reconciledAt > since;
    },
    /** Another process works on the object now, or did before: forgets all but what this process has begun. */
    handOver(key: ObjectKey): void {
      const memory = memories.get(key);
      if (!memory) return;
      const { creation, begun, desired, doubt } = memory;
      // In place, because a running pass holds this memory.
      for (const name of Object.keys(memory)) Reflect.deleteProperty(memory, name);
      Object.assign(memory, { creation, begun, desired, doubt });
    },
    forget: (key: ObjectKey): void => void memories.delete(key),
  };
}

/** Changes when a user edits the object, and not when Mooring writes to it. */
export function desiredVersionOf({ metadata }: KubeObject): string {
  const { generation, uid, deletionTimestamp, annotations = {} } = metadata;
  const kept = [INTENT, EXTERNAL_ID, LAST_APPLIED];
  const theirs = Object.entries(annotations).filter(([name]) => !kept.includes(name));
  return JSON.stringify([generation, uid, deletionTimestamp, theirs.sort()]);
}

/** The open intent or request. An intent is known by its nonce, which its process knows before it is written. */
export function begunIn(object: KubeObject): string | undefined {
  const intent = openIntent(object);
  if (intent) return intent.nonce;
  const { request } = readStatus(object);
  return request && begunBy(request);
}

type Request = NonNullable<ResourceStatus["request"]>;

/** How a request is recognised. Its status is part of that: once it is answered, its time begins anew. */
export const begunBy = ({ status, since, action, nonce }: Pick<Request, "status" | "since" | "action" | "nonce">) =>
  JSON.stringify([status, since, action, nonce]);
