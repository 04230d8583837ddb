import type { Clock } from "../../runtime/clock.ts";
import type { PlatformError } from "../answers/errors.ts";
import type { Log } from "../calls/call.ts";
import type { Change, Item, Reading } from "./reading.ts";

/** Ids whose reading changed, or who asked for a list that is done; "all" after the first list and when a problem comes or goes. */
export type CollectionListener = (ids: ReadonlySet<string> | "all") => void;

/**
 * All members of one collection, kept current at a cost that follows change, not size.
 *
 * - At rest: one list per `restMs`.
 * - Members that were made known by `track` are in flux. The cheaper way is taken: one list per `busyMs` shows them all,
 *   further apart where they are few among many, and while more and more are made known (`sharedGap`). Where even that
 *   costs more than looking at them one by one (fifty members of a list cost as much as one look), each is read every
 *   `busyMs`. Either gap grows while nothing happens (`lookGap`) and is short again after any change.
 * - One that is being deleted is gone when its request says so: once a list misses it, the requests of all such members are
 *   asked in one call. Without a request it is gone when two lists and then a read of the member miss it.
 * - A member that is BUSY without being tracked (somebody else changes it) makes lists a little more frequent.
 * - A member that is expected and not there yet makes lists more frequent, ever less so the longer it stays away.
 * - A tracked member that is in no list is not visible yet: after five seconds, and then ever less often, its request
 *   is asked for. One that FAILED or vanished is asked for its reason until that is known.
 * - Absence of a member that was seen needs two reads in a row (see `createMembers`), the second of which follows soon.
 *
 * - A list that has more than is taken (`limits`) is not read again before the next resync; members are read one by one
 *   when they are asked for.
 *
 * Guarantees: never two lists at once. A failed list changes nothing but `problem` and `gone`; members are dropped when
 * the parent is not found twice in a row. Listeners hear of tracked members that have come to rest after every list,
 * changed or not, for as long as they are tracked: whoever tracks must look, and untrack. Who was told and has not looked
 * yet causes a list after a minute only. A throwing listener is logged and disturbs nobody. After `close` nothing is
 * called any more.
 */
export interface Collection {
  readonly key: string;
  read(id: string): Reading;
  members(): IteratorObject<Item>;
  /** When the last complete successful list started, on the monotonic clock. */
  readonly listedAt: number | undefined;
  /** What the last list failed with; cleared by success. */
  readonly problem: PlatformError | undefined;
  /** The last list was answered 404: the parent is not there (or not yet). `problem` holds the answer. */
  readonly gone: boolean;
  /** The last list has more than is taken: nothing follows from what is not seen. `problem` names the limit. */
  readonly isTooLarge: boolean;
  /** Whether a tracked member is being deleted. */
  isLeaving(id: string): boolean;
  /** How many members are tracked. */
  readonly changing: number;
  /** When a member last changed, or was made known to be changing, on the monotonic clock. */
  readonly changedAt: number;
  /** This member is in flux: watch it closely until untracked. The same change again changes nothing. */
  track(id: string, change: Change): void;
  /** Somebody else says that this member is there: look for it until it is seen or untracked. */
  expect(id: string): void;
  untrack(id: string): void;
  /** List soon, by a list that starts after this call, and tell these ids when it is done, changed or not. */
  refresh(ids: readonly string[]): void;
  /** Ask for the status of the tracked request once, now, and tell when the answer is there (or does not come). */
  ask(id: string): void;
  /** Returns the way to stop listening. */
  subscribe(listener: CollectionListener): () => void;
  close(): void;
}

export interface CollectionOptions {
  clock: Clock;
  random?: () => number;
  /** Between two lists at rest; ±10 %. Default five minutes. */
  restMs?: number;
  /** Between two looks at what is in flux. Default 1.5 s. */
  busyMs?: number;
  log?: Log;
}
