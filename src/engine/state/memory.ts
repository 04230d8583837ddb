import { type KubeObject, LAST_APPLIED } from "../../kube/resource.ts";
import type { Progress } from "../../platform/activity/progress.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Obstacle, Reason } from "../status/reasons.ts";
import type { ResourceStatus } from "../status/schema.ts";
import { readStatus } from "../status/status.ts";
import type { Intent, markOf } from "./intent.ts";
import { EXTERNAL_ID, INTENT } from "./names.ts";
import { type ObjectKey, openIntent } from "./object.ts";
import type { AbsenceFacts } from "./presence.ts";
import type { Succession } from "./succession.ts";

/** An attempt that the platform refused or failed at. */
export interface Failure {
  reason: Reason;
  message: string;
  /** Nothing is sent to the platform before this, unless spec changes. */
  retryAt: number;
}

/** A write that the platform has accepted and whose effect has not been seen, of this generation of the object. */
export interface Accepted {
  /** Undefined where only status tells that there was one. */
  mark?: ReturnType<typeof markOf> | undefined;
  generation: number;
  times: number;
  /** When it was last accepted, and when it may be sent again. */
  at: number;
  retryAt: number;
}

/** Whether a write is the one that was accepted. */
export const isAccepted = ({ mark }: Accepted, { call, hash }: ReturnType<typeof markOf>): boolean =>
  mark === undefined || (mark.call === call && mark.hash === hash);

/** After so many times a person is told. */
export const MOST_ACCEPTED = 4;

/** The last attempt at something that somebody may undo: the same is not repeated before its time. */
export interface Attempt {
  /** What was to be brought about. */
  what: string;
  times: number;
  retryAt: number;
  obstacle?: Obstacle | undefined;
}

/** A row of attempts is over when nothing was undone for so long. */
const RESET_AFTER_MS = 600_000;
const LONGEST_MS = 512_000;

/** The pause after an attempt is twice as long as after the one before at the same, unless that was long ago. */
export function nextAttempt(last: Attempt | undefined, what: string, now: number, firstMs = 1000): Attempt {
  const times = last?.what === what && now < last.retryAt + RESET_AFTER_MS ? last.times + 1 : 0;
  return { what, times, retryAt: now + Math.min(firstMs * 2 ** times, LONGEST_MS) };
}

/** A key out of an answer, with the answer, until both are in the Secret. */
export interface Issued {
  key: string;
  answer: unknown;
}

/** The platform's word for a write that it works on. */
export interface RequestAddress {
  id: string;
  url: string;
}

/** What a creation made. */
export interface Made {
  id: string;
  /** When the platform made it, as it shows that. */
  born?: string | undefined;
  request?: RequestAddress | undefined;
}

/** The last search for the result of a creation. */
export interface SearchResult {
  lookedAt: number;
  endedAt: number;
  /** How many looks in a row, this one included, began when nothing could arrive any more. */
  looks: number;
  /** Something matching was accepted and cannot be seen yet. */
  pending: boolean;
  /** What matches, by identity. */
  matches: ReadonlyMap<string, Made>;
  /** What is known of each id that was given to a match which cannot be seen. */
  unseen: ReadonlyMap<string, AbsenceFacts>;
}

/**
 * How far the last creation of an object has come, as this process knows it. Each creation has its own intent; one that
 * another process has begun is `sent`, for all that is known.
 */
export type Creation = {
  intent: Intent;
  /** When it was begun, or first seen by this process. */
  begunAt: number;
  /** This process has begun it: nobody else has an answer to it. */
  own?: boolean;
} /** Certainly not executed: nothing has left, or it was refused. */ & (
  | { phase: "unsent" }
  /** The POST is under way at this moment. */
  | { phase: "posting" }
  /** It may have been executed: only a search can tell. */
  | { phase: "sent"; search?: SearchResult }
  /** Made, and the claim is not written yet. Lost in a crash, and then found by a search. */
  | { phase: "made"; made: Made; issued?: Issued; searched?: boolean }
  /** The claim is written. It is undone should the API server drop the object despite its finalizer. */
  | { phase: "claimed"; made: Made }
);

/** Since when this process knows something, by its own clock. */
interface FirstSeen {
  what: string;
  at: number;
}

/** What the process knows of one object and can afford to forget: it only saves work, never correctness. */
export interface Memory {
  /** With how often the object has waited for what passes by itself, and for somebody: each has a backoff of its own. */
  failure?: (Failure & { at: number; generation: number; attempts: Record<"waited" | "stalled", number> }) | undefined;
  accepted?: Accepted | undefined;
  /** How it stood last, and since when for that reason. */
  condition?: { reason: Reason; since: number } | undefined;
  /** The last Event about what keeps it from being Ready, of this generation, and when the next one may follow. */
  lastEvent?: { text: string; generation: number; times: number; nextAt: number } | undefined;
  creation?: Creation | undefined;
  /** The intent or request that status and annotations tell of. */
  begun?: FirstSeen | undefined;
  /** Of an Account: how far the platform's clock was ahead when that was last told. */
  skewMs?: number | undefined;
  /** The last token that was made for the object. */
  succession?: Succession | undefined;
  /** Of an Account: the token that is being made for it. */
  login?: FirstSeen | undefined;
  /** What is wanted of the object: spec, its deletion, what its annotations ask for. */
  desired?: FirstSeen | undefined;
  /** When the platform's log was last searched for a write that got no answer. */
  recalledAt?: number | undefined;
  /** The new key that answers the renewal with this nonce, until it is in its Secret. */
  renewed?: (Issued & { nonce: string }) | undefined;
  /** What is known of the claimed resource while it is not seen. */
  absence?: AbsenceFacts | undefined;
  /** When a reading last showed the resource, by the platform's clock, as its logs have it. */
  seenAt?: number | undefined;
  /** When the resource that the object had before was given up. */
  goneAt?: number | undefined;
  /** When the resource and its request were last asked for by themselves. */
  askedAt?: number | undefined;
  /** What was inside when it was last looked at. */
  contents?: { asOf: number; names: string[] } | undefined;
  /** A certificate is due and the platform has no newer one: when it is asked again, by its own clock. */
  renewAfter?: number | undefined;
  /** Ids of which some may be what a lost creation made: nothing is done about them, they expire by themselves. */
  unclaimed?: readonly string[] | undefined;
  /** What a catalogue of the platform says about what spec names. */
  checked?: { what: string; facts: Readonly<Record<string, unknown>> } | undefined;
  output?: Attempt | undefined;
  /** The last renewal of a key that was lost, and the last repair of the rest of its Secret. */
  renewal?: Attempt | undefined;
  repair?: Attempt | undefined;
  /** How far an export is, where that is not worth a write: from this version of what is on record. */
  exported?: { recorded: unknown; progress: Progress } | undefined;
  /**
   * Since when it is possible that something was made for the object of which it does not tell, because it comes from a backup:
   * nothing is created before a list that began later has been read.
   */
  restoredAt?: number | undefined;
  /** When the object was last looked at. */
  lookedAt?: number | undefined;
  /** When the object was first seen at rest with its intent still in place. */
  restingSince?: number | undefined;
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
  let rewoundAt: number | undefined;
  return {
    of,
    /** Which object is adopting an existing resource at this moment, by kind and id. */
    adopters: new Map<string, ObjectKey>(),
    get rewoundAt() {
      return rewoundAt;
    },
    set rewoundAt(at: number | undefined) {
      rewoundAt = at;
    },
    /** To be told of every version of an object, in their order. */
    observe(key: ObjectKey, object: KubeObject): void {
      const memory = of(key);
      const desired = desiredVersionOf(object);
      if (memory.desired?.what !== desired) memory.desired = { what: desired, at: monotonic() };
      const begun = begunIn(object);
      const since = memory.begun?.at;
      // What this process has begun itself was noted before it was on record.
      if (begun === undefined) memory.begun = undefined;
      else if (memory.begun?.what !== begun) memory.begun = { what: begun, at: monotonic() };
      if (memory.begun?.at !== since) memory.recalledAt = undefined;
    },
    /** What failed until then may succeed now; what failed later has met things as they are. */
    clearFailure(key: ObjectKey, until: number): void {
      const memory = of(key);
      if (memory.failure && memory.failure.at <= until) memory.failure = undefined;
      const { accepted } = memory;
      if (accepted && accepted.at <= until) accepted.retryAt = Math.min(accepted.retryAt, until);
    },
    /** Whether a pass has read the object, after this time if there is one: what was known then is no news to it. */
    hasLooked(key: ObjectKey, since = Number.NEGATIVE_INFINITY): boolean {
      const { lookedAt } = memories.get(key) ?? {};
      return lookedAt !== undefined && lookedAt > since;
    },
    /** Another process works on the object from here on, or did until now: only what this one has begun, and since when, counts. */
    handOver(key: ObjectKey): void {
      const memory = memories.get(key);
      if (!memory) return;
      const { creation, begun, desired, restoredAt } = memory;
      // In place: a pass that is under way goes on with it.
      for (const name of Object.keys(memory)) Reflect.deleteProperty(memory, name);
      Object.assign(memory, { creation, begun, desired, restoredAt });
    },
    forget: (key: ObjectKey): void => void memories.delete(key),
  };
}

/** What people want of an object, as opposed to what it shows and what Mooring keeps in it. */
export function desiredVersionOf({ metadata }: KubeObject): string {
  const { generation, uid, deletionTimestamp, annotations = {} } = metadata;
  const kept = [INTENT, EXTERNAL_ID, LAST_APPLIED];
  const theirs = Object.entries(annotations).filter(([name]) => !kept.includes(name));
  return JSON.stringify([generation, uid, deletionTimestamp, theirs.sort()]);
}

/** The intent or request that is open. Of an intent the nonce: whoever writes it knows it before. */
export function begunIn(object: KubeObject): string | undefined {
  const intent = openIntent(object);
  if (intent) return intent.nonce;
  const { request } = readStatus(object);
  return request && begunBy(request);
}

type Request = NonNullable<ResourceStatus["request"]>;

/** What a request is known by. The answer to it is another moment than its announcement. */
export const begunBy = ({ status, since, action, nonce }: Pick<Request, "status" | "since" | "action" | "nonce">) =>
  JSON.stringify([status, since, action, nonce]);
