import type { Reason } from "../schema/reasons.ts";
import type { Intent } from "./intent.ts";
import type { ObjectKey } from "./objects.ts";

/** An attempt that the platform refused or failed at. */
export interface Failure {
  reason: Reason;
  message: string;
  /** The same attempt is made again when this has passed, or when spec changes. */
  retryAt: number;
}

/** A key out of an answer, with the answer, until both are in the Secret. */
export interface Issued {
  key: string;
  answer: unknown;
}

/** A resource that was created and whose claim could not be written yet. Lost in a crash, and then found by a search. */
export interface Unclaimed {
  nonce: string;
  id: string;
  request?: { id: string; url: string };
  since: number;
  /** Found by a search, not made by this process: others may know of it as well. */
  searched?: boolean;
  /** The key that came with it, until it is in its Secret. */
  issued?: Issued;
}

/** What the process knows of one object and can afford to forget: it only saves work, never correctness. */
export interface Memory {
  failure?: (Failure & { generation: number; attempts: number }) | undefined;
  /** The last search for the result of the intent with this nonce. */
  search?:
    | {
        nonce: string;
        lookedAt: number;
        endedAt: number;
        /** Something matching was accepted and cannot be seen yet. */
        pending: boolean;
        /** The request that made each match, by id; undefined where the platform keeps none. */
        requests: Record<string, { id: string; url: string } | undefined>;
        /** Since when it is known of each id that it was given to a match which cannot be seen. */
        unseen: Record<string, number>;
      }
    | undefined;
  unclaimed?: Unclaimed | undefined;
  /** The creation that this process sent last, and what it is known to have made: undone should the object be gone. */
  creation?: { intent: Intent; id?: string } | undefined;
  /** The new key that answers the renewal with this nonce, until it is in its Secret. */
  renewed?: (Issued & { nonce: string }) | undefined;
  /** The POST of the intent with this nonce was certainly not executed: it may be sent again. */
  unsent?: string | undefined;
  /** The POST of this object is under way. */
  posting?: boolean;
  /** Since when, and when last, the claimed id was looked for by itself and not found. */
  absence?: { since: number; last: number } | undefined;
  /** What the platform last said of the request at this address. */
  told?: { url: string; status: "BUSY" | "DONE" | "FAILED"; message?: string; knownAt: number } | undefined;
  /** When the resource and its request were last asked for by themselves. */
  askedAt?: number | undefined;
  /** When this process first saw the open intent with this nonce. */
  seen?: { nonce: string; at: number } | undefined;
  /** The existing resource that is being taken over. */
  adopting?: string | undefined;
  /** What was inside when it was last looked at. */
  contents?: { asOf: number; found: string[] } | undefined;
  /** A certificate is due and the platform has no younger one: when it is asked again, by its own clock. */
  renewAfter?: number | undefined;
  /** When the object was first seen at rest with its intent still in place. */
  restingSince?: number | undefined;
}

export interface Memories {
  of(key: ObjectKey): Memory;
  forget(key: ObjectKey): void;
}

export function createMemories(): Memories {
  const memories = new Map<ObjectKey, Memory>();
  return {
    of(key) {
      const memory = memories.get(key) ?? {};
      memories.set(key, memory);
      return memory;
    },
    forget: (key) => void memories.delete(key),
  };
}
