import type { Clock } from "../../../runtime/clock.ts";
import type { Listed, Members } from "../members.ts";
import type { Change, CollectionSource, KnownRequest } from "../reading.ts";
import type { Action, UsualDurations } from "../usual-durations.ts";

/** The changing members that are read singly: all, or only those whose requests tell the outcome. */
export type SinglyRead = "all" | "requests";

/** The changing members of a collection, and the single reads of them. */
export interface ChangeTracker {
  readonly size: number;
  /**
   * The earliest time for a list of changing members: a poll interval after the last of a series of changes, but at most
   * `sharedGap` after the first. Undefined when all tracked members are known to be at rest.
   */
  readonly worthListing: number | undefined;
  /** Single reads cost less than a list. */
  readonly oneByOne: boolean;
  /**
   * The last list was the first to miss members that are deleted without a request, and no change has begun since: one more
   * list decides.
   */
  readonly isVanishing: boolean;
  /** The shortest time between two lists of changing members: the fewer of all members change, the longer. */
  readonly listGap: number;
  /** When the usual durations of the changing members call for a read. Undefined if they are unknown, or many change. */
  readonly usualRead: number | undefined;
  /** When to notify owners again that their members are at rest, because some have not read them yet. */
  readonly notifyAgain: number | undefined;
  /** When the next single read of these is due, on the monotonic clock. */
  readDueAt(which: SinglyRead | undefined): number;
  has(id: string): boolean;
  isLeaving(id: string): boolean;
  /** False when this change is tracked already. */
  track(id: string, change: Change): boolean;
  untrack(id: string): void;
  request(id: string): KnownRequest | undefined;
  /** Absence of this member is the expected result of its change, or of its failure. */
  expectsAbsence(id: string): boolean;
  /** Starts the single reads of these that are due. */
  startDueReads(which: SinglyRead | undefined): void;
  ask(id: string): void;
  /** A list begins: changes tracked from now on are not in it. */
  beforeList(): void;
  /**
   * Evaluates a list that began at `began` (monotonic). Reads the requests of members that failed, vanished or stay invisible,
   * checks the deletions of members that it misses, and returns the members that are at rest, so that their owners are
   * notified.
   */
  afterList(began: number, listed: Listed): string[];
}

/** The means of every read of a collection. */
export interface CollectionReads {
  clock: Clock;
  random: () => number;
  busyMs: number;
  restMs: number;
  source: CollectionSource;
  members: Members;
  signal: AbortSignal;
}

export interface ChangeTrackerOptions extends CollectionReads {
  /** The cached state of these members has changed. */
  changed(ids: readonly string[]): void;
  /** The time of the next read may have changed. */
  moved(): void;
}

/** A changing member, with the known state of its change. */
export interface Tracked {
  change: Change;
  trackedAt: number;
  action: Action;
  /** The change began when it was tracked, so its duration can be measured. */
  isNew: boolean;
  /** When the last read that showed it in progress began. */
  busyAt: number;
  /** Undefined once the platform no longer knows the request. */
  url: string | undefined;
  request: KnownRequest | undefined;
  /** A read is in progress. */
  isReading: boolean;
  /** The owner asked, so it is notified whatever the read shows. */
  asked: boolean;
  failures: number;
  readDueAt: number;
  /** The earliest time to read the request again because of a list, and the pause after that. */
  nextReason: number;
  reasonGap: number;
  /** While it is being deleted: the time of the first read in a row that missed it, and the number of such lists and reads. */
  missed: { at: number; lists: number; reads: number } | undefined;
}

/** The earliest time to read a request for its reason. */
export const firstReasonMs = 5_000;

/** A deletion without a request has ended when this many lists, and then a read of the member, miss it. */
export const missingLists = 2;

/** A change that began longer ago was tracked by another process before. */
const newMs = 2_000;

export const begin = (change: Change, isKnown: boolean, { clock, busyMs }: CollectionReads): Tracked => {
  const now = clock.monotonic();
  return {
    change,
    trackedAt: now,
    action: change.leaving ? "delete" : isKnown ? "update" : "create",
    isNew: Math.abs(clock.now() - change.since) < newMs,
    busyAt: now,
    url: change.url,
    request: undefined,
    isReading: false,
    asked: false,
    failures: 0,
    readDueAt: now + busyMs,
    nextReason: now,
    reasonGap: firstReasonMs,
    missed: undefined,
  };
};

export const isLeaving = ({ change }: Tracked): boolean => change.leaving === true;

/** Whether the progress of the change can be read from its request. */
export const hasRequest = ({ url }: Tracked, { requestStatus }: CollectionSource): boolean =>
  url !== undefined && requestStatus !== undefined;

export const ended = (entry: Tracked | undefined): boolean =>
  entry?.request !== undefined && entry.request.status !== "BUSY";

/**
 * Absence is expected only after the request has failed or the deletion has ended. Until then, a read that misses the member
 * proves nothing.
 */
export const expectsAbsence = (entry: Tracked | undefined): boolean =>
  entry !== undefined && (entry.request?.status === "FAILED" || (isLeaving(entry) && ended(entry)));

/** Counts the reads in a row that miss a member while it is being deleted. */
export function miss(entry: Tracked, isMissing: boolean, by: "lists" | "reads", now: number): void {
  const { at = now, lists = 0, reads = 0 } = entry.missed ?? {};
  const counted = { at, lists, reads };
  entry.missed = isMissing ? { ...counted, [by]: counted[by] + 1 } : undefined;
}

/** A read shows a change in progress, or at rest. The duration of a change that failed tells nothing. */
export function learnFrom(known: UsualDurations | undefined, entry: Tracked, readAt: number, isOver: boolean): void {
  if (!isOver) entry.busyAt = readAt;
  else if (entry.isNew && entry.request?.status !== "FAILED") {
    known?.learn(entry.action, entry.busyAt - entry.trackedAt, readAt - entry.trackedAt);
    entry.isNew = false;
  }
}
