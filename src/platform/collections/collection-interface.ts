import type { Clock } from "../../runtime/clock.ts";
import type { PlatformError } from "../answers/errors.ts";
import type { Log } from "../calls/call.ts";
import type { Change, Item, Reading } from "./reading.ts";

/**
 * Called with the ids whose reading changed or whose requested list is done; "all" after the first list, and when a problem
 * comes or goes.
 */
export type CollectionListener = (ids: ReadonlySet<string> | "all") => void;

/**
 * A cache of all members of one collection. Its cost follows change, not size.
 *
 * - At rest: one list per `restMs`.
 * - Members passed to `track` are changing. The cheaper way is used. One list per `busyMs` shows them all; the interval is
 *   longer when few of many members change, and while more are tracked (`sharedGap`). If even that costs more than single reads
 *   (a list of fifty members costs as much as one read), each member is read every `busyMs`. Both intervals grow while nothing
 *   happens (`pollGap`) and are short again after any change.
 * - While few members change, and it is known how long such changes take, reads follow that (`usual-durations.ts`).
 * - A member that is being deleted is gone when its request says so: once a list misses it, the requests of all such members
 *   are read in one call. Without a request, it is gone when two lists and then a read of the member miss it.
 * - A member that is BUSY but not tracked (someone else changes it) makes lists a little more frequent.
 * - An expected member that is not there yet makes lists more frequent, less so the longer it is missing.
 * - A tracked member that is in no list is not visible yet: its request is read after five seconds, and then less and less
 *   often. The request of a member that FAILED or vanished is read until the reason is known.
 * - A member that was seen counts as absent only after two reads in a row (see `createMembers`); the second follows soon.
 * - A list over the `limits`, or with invalid items, is not read again before the next resync; members are read one by one on
 *   request. Invalid items are left out: what the others show counts, and no member counts as absent.
 *
 * Guarantees: never two lists at once. A list that fails for another reason changes only `problem` and `gone`; when the parent
 * is not found twice in a row, all members are dropped. After every list, listeners are called for tracked members at rest,
 * changed or not, as long as they are tracked: an owner must read and untrack its member. An owner that was notified and has
 * not read yet causes another list only after a minute. A listener that throws is logged and affects no other. After `close`
 * nothing is called any more.
 */
export interface Collection {
  readonly key: string;
  read(id: string): Reading;
  members(): IteratorObject<Item>;
  /** When the last complete successful list started, on the monotonic clock. */
  readonly listedAt: number | undefined;
  /** The error of the last list; cleared by success. */
  readonly problem: PlatformError | undefined;
  /** The last list was answered 404: the parent does not exist (or not yet). `problem` holds the answer. */
  readonly gone: boolean;
  /** The last list exceeds a limit: a member that is not seen may still exist. `problem` names the limit. */
  readonly isTooLarge: boolean;
  /** The last list is too large or has invalid items: it shows no absence. `problem` says why. */
  readonly isPartial: boolean;
  /** Whether a tracked member is being deleted. */
  isLeaving(id: string): boolean;
  /** The number of tracked members. */
  readonly changing: number;
  /** When a member last changed or was tracked, on the monotonic clock. */
  readonly changedAt: number;
  /** This member is changing: poll it until it is untracked. Tracking the same change again has no effect. */
  track(id: string, change: Change): void;
  /** Another source says that this member exists: look for it until it is seen or untracked. */
  expect(id: string): void;
  untrack(id: string): void;
  /** Requests a list that starts after this call, and notifies these ids when it is done, changed or not. */
  refresh(ids: readonly string[]): void;
  /** Reads the status of the tracked request once, now, and notifies the owner of the answer or of its failure. */
  ask(id: string): void;
  /** Returns the function to unsubscribe. */
  subscribe(listener: CollectionListener): () => void;
  close(): void;
}

export interface CollectionOptions {
  clock: Clock;
  random?: () => number;
  /** The resync interval: between two lists at rest; ±10 %. Default five minutes. */
  restMs?: number;
  /** The poll interval of changing members. Default 1.5 s. */
  busyMs?: number;
  log?: Log;
}
