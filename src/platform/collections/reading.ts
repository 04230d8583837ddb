/** The types of a collection: its source, its items, and readings of them. */
import { z } from "zod";
import { type Failure, Retry } from "../answers/errors.ts";
import type { Priority } from "../pace/pacer.ts";
import type { UsualDurations } from "./usual-durations.ts";

/** The id of a resource: a UUID or a number. It becomes part of a path. */
export const resourceId = z.string().regex(/^\w[\w.:@-]{0,127}$/, "not an id of the platform's form");

export interface Item {
  readonly id: string;
  /** The platform's state: BUSY, AVAILABLE, PROVISIONING … */
  readonly state: string | undefined;
  /** The item as the platform sent it, reduced to what its kind reads. It must not be changed. */
  readonly raw: unknown;
}

/** A list has invalid items, so it shows no absence. `items` are the others. */
export class PartialList<T = Item> extends Retry {
  readonly failure: Failure;
  readonly items: readonly T[];
  constructor(failure: Failure, items: readonly T[]) {
    super(failure, "no");
    this.failure = failure;
    this.items = items;
  }
}

const creator = z.looseObject({ createdByUserId: z.string().nullish() });
const created = z.looseObject({ metadata: creator.nullish() });

/** The user who created a resource; undefined where the answer does not tell. */
export const creatorOf = (raw: unknown): string | undefined =>
  created.safeParse(raw).data?.metadata?.createdByUserId ?? undefined;

/** The state of an asynchronous request. */
export interface RequestState {
  readonly status: "BUSY" | "DONE" | "FAILED";
  /** The reason of a FAILED request, as the platform says it. */
  readonly message?: string;
  readonly targets: readonly { readonly id: string; readonly type?: string; readonly status?: string }[];
}

export interface Reading {
  /** Undefined: it did not exist at `asOf`. */
  readonly item: Item | undefined;
  /** When the read that shows it started, on the monotonic clock; undefined before the first read. */
  readonly asOf: number | undefined;
  /** The last known state of the tracked request; undefined before it is read, and when the member is not tracked. */
  readonly request: KnownRequest | undefined;
}

/** The state of a request, and when it was read, on the monotonic clock: reads that start later show its effect. */
export interface KnownRequest extends RequestState {
  readonly knownAt: number;
}

/** The source of a collection. */
export interface CollectionSource {
  readonly key: string;
  /** How long changes of its members usually take. */
  readonly durations?: UsualDurations;
  /** Complete: all pages. A list with invalid items fails with the others (`PartialList`): it proves no absence. */
  list(signal: AbortSignal, priority: Priority): Promise<Item[]>;
  /** One member, in the same shape as in the list; undefined for 404. */
  get?(id: string, signal: AbortSignal): Promise<Item | undefined>;
  requestStatus?(url: string, signal: AbortSignal): Promise<RequestState>;
  /** The states of all deletions since a time, by request id, in one call. */
  deletions?(since: number, signal: AbortSignal): Promise<ReadonlyMap<string, RequestState>>;
  /** Whether an id still names the same resource as in the last list; absent where ids are never reused. */
  isStillThere?(id: string, signal: AbortSignal): Promise<boolean>;
  /** The collection was closed. */
  close?(): void;
  isBusy(item: Item): boolean;
  /** Why the item failed, if the platform says so. */
  failure?(item: Item): string | undefined;
}

/** A change of a member that is in progress. */
export interface Change {
  /** The URL of its request status. */
  readonly url?: string;
  /** Distinguishes this change from the one before. */
  readonly since: number;
  /** The change is a deletion: absence is its success and needs no reason. */
  readonly leaving?: boolean;
}
