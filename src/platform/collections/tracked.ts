import type { Clock } from "../../runtime/clock.ts";
import type { Listed, Members } from "./members.ts";
import type { Change, CollectionSource, KnownRequest } from "./reading.ts";

/** The members of a collection that are being changed, and the looks at them one by one. */
export interface ChangeTracker {
  readonly size: number;
  /**
   * The earliest time for a list that shows what is changing: a poll interval after the last of a row of changes, but not
   * later than `sharedGap` after its first. Undefined while nothing changes whose end is not known.
   */
  readonly worthListing: number | undefined;
  /** Looking at them one by one costs less than a list. */
  readonly oneByOne: boolean;
  /** The last list was the first to miss some that are deleted without a request, and nothing else has begun since: one more tells. */
  readonly isVanishing: boolean;
  /** The shortest time between two lists of what is changing: the fewer of the members change, the longer. */
  readonly listGap: number;
  /** When owners are to be told once more that their members have come to rest: since they were, some have not looked. */
  readonly tellAgain: number | undefined;
  /** When the next single look is due, on the monotonic clock. */
  readonly nextLook: number;
  has(id: string): boolean;
  isLeaving(id: string): boolean;
  /** False when this very change is tracked already. */
  track(id: string, change: Change): boolean;
  untrack(id: string): void;
  request(id: string): KnownRequest | undefined;
  /** Absence of this member is what its change was to bring about, or what its failure leaves behind. */
  expectsAbsence(id: string): boolean;
  /** Starts the single looks that are due. */
  lookAtDue(): void;
  ask(id: string): void;
  /** A list begins: what is made known from now on it need not show. */
  beforeList(): void;
  /**
   * Draws conclusions from a list that began at `began` (monotonic): asks for the reason of what failed, vanished or
   * stays invisible, asks whether the deletions are over whose members it misses, and names the members that have come to
   * rest, so that their owners look again.
   */
  afterList(began: number, listed: Listed): string[];
}

export interface ChangeTrackerOptions {
  clock: Clock;
  random: () => number;
  busyMs: number;
  restMs: number;
  source: CollectionSource;
  members: Members;
  signal: AbortSignal;
  /** Something about these members is known now that was not before. */
  changed(ids: readonly string[]): void;
  /** The time of the next look may have moved. */
  moved(): void;
}

/** A member that is being changed, and what is known of that change. */
export interface Tracked {
  change: Change;
  trackedAt: number;
  /** Undefined once the platform does not know the request any more. */
  url: string | undefined;
  request: KnownRequest | undefined;
  /** A look is under way. */
  looking: boolean;
  /** The owner asked, so it is told whatever the look brings. */
  asked: boolean;
  failures: number;
  nextLook: number;
  /** When a list may next give cause to ask for the request, and how long after that the time after. */
  nextReason: number;
  reasonGap: number;
  /** While it is being deleted: the reads in a row that missed it: when the first one was there, and how many they are. */
  missed: { at: number; lists: number; reads: number } | undefined;
}

/** A request is asked for its reason after this at the earliest. */
export const firstReasonMs = 5_000;

export const begin = (change: Change, now: number, busyMs: number): Tracked => ({
  change,
  trackedAt: now,
  url: change.url,
  request: undefined,
  looking: false,
  asked: false,
  failures: 0,
  nextLook: now + busyMs,
  nextReason: now,
  reasonGap: firstReasonMs,
  missed: undefined,
});

export const isLeaving = ({ change }: Tracked): boolean => change.leaving === true;

export const ended = (entry: Tracked | undefined): boolean =>
  entry?.request !== undefined && entry.request.status !== "BUSY";

/** Until its deletion is known to be over, a read that misses a member proves nothing. */
export const expectsAbsence = (entry: Tracked | undefined): boolean =>
  entry !== undefined && (entry.request?.status === "FAILED" || (isLeaving(entry) && ended(entry)));

/** Counts the reads in a row that miss a member while it is being deleted. */
export function miss(entry: Tracked, isMissing: boolean, by: "lists" | "reads", now: number): void {
  const { at = now, lists = 0, reads = 0 } = entry.missed ?? {};
  const counted = { at, lists, reads };
  entry.missed = isMissing ? { ...counted, [by]: counted[by] + 1 } : undefined;
}
