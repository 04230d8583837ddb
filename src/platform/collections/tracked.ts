import type { Change, KnownRequest } from "./reading.ts";

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
