/** The words of a collection: what it is read from, and what is known about a member since when. */
import { z } from "zod";
import type { Priority } from "../pace/pacer.ts";

/** The id of a resource as the platform writes it: a UUID or a number. It becomes part of a path. */
export const resourceId = z.string().regex(/^\w[\w.:@-]{0,127}$/, "not an id of the platform's form");

export interface Item {
  readonly id: string;
  /** The platform's own word: BUSY, AVAILABLE, PROVISIONING … */
  readonly state: string | undefined;
  /** The item as the platform sent it, as far as its kind reads it. Nobody may change it. */
  readonly raw: unknown;
}

/** How far an asynchronous request has come. */
export interface RequestState {
  readonly status: "BUSY" | "DONE" | "FAILED";
  /** Of a FAILED request: the reason, in the platform's own words. */
  readonly message?: string;
  readonly targets: readonly { readonly id: string; readonly type?: string; readonly status?: string }[];
}

export interface Reading {
  /** Undefined: not there, as far as `asOf` knows. */
  readonly item: Item | undefined;
  /** When the read that says so started, on the monotonic clock; undefined: nothing has been read yet. */
  readonly asOf: number | undefined;
  /** The last known state of the tracked request; undefined while unasked, and once the member is no longer tracked. */
  readonly request: KnownRequest | undefined;
}

/** What was told of a request, and when, on the monotonic clock: what it has done shows in reads that start later. */
export interface KnownRequest extends RequestState {
  readonly knownAt: number;
}

/** Where a collection is read from. */
export interface CollectionSource {
  readonly key: string;
  /** Complete: all pages. */
  list(signal: AbortSignal, priority: Priority): Promise<Item[]>;
  /** One member, in the same shape as in the list; undefined for 404. */
  get?(id: string, signal: AbortSignal): Promise<Item | undefined>;
  requestStatus?(url: string, signal: AbortSignal): Promise<RequestState>;
  /** How far the deletions since a time have come, by the id of their request: one call for all of them. */
  deletions?(since: number, signal: AbortSignal): Promise<ReadonlyMap<string, RequestState>>;
  /** Whether what an id stood for in the last list is what it stands for now; absent where an id never stands for another. */
  isStillThere?(id: string, signal: AbortSignal): Promise<boolean>;
  /** The collection is no longer kept. */
  close?(): void;
  isBusy(item: Item): boolean;
  /** Why the item does not work, when the platform says so. */
  failure?(item: Item): string | undefined;
}

/** A change of a member that is under way. */
export interface Change {
  /** Where its request status is asked. */
  readonly url?: string;
  /** Tells this change from the one before it. */
  readonly since: number;
  /** The change is a deletion: absence is its good end, and is not asked for a reason. */
  readonly leaving?: boolean;
}
