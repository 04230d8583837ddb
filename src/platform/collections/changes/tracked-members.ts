import type { Change } from "../reading.ts";
import { nextRead } from "../usual-durations.ts";
import { begin, type CollectionReads, ended, expectsAbsence, learnFrom, type Tracked } from "./tracked.ts";

/** The table of the tracked members. */
export interface TrackedMembers {
  readonly all: ReadonlyMap<string, Tracked>;
  /** The members that are not known to be at rest. */
  readonly waiting: ReadonlyMap<string, Tracked>;
  /** When the first owner was notified that its member is at rest, of those who have not read it yet. */
  readonly notifiedSince: number | undefined;
  /** When the usual durations call for a list. Undefined if they are unknown, or many members change. */
  readonly usualRead: number | undefined;
  /** A change begins, in place of the one before. */
  add(id: string, change: Change): void;
  delete(id: string): void;
  /**
   * Whether a read that started after the change shows the member at rest. Then its owner is notified, and the member is no
   * longer polled.
   */
  settle(id: string, entry: Tracked): boolean;
  /** When to read a member after a read that began at `readAt`. */
  readAfter(entry: Tracked, readAt: number): number;
}

/** With more changing members at a time, usual durations are ignored: lists at the poll interval serve them together. */
const few = 4;

export function createTrackedMembers(options: CollectionReads): TrackedMembers {
  const { clock, busyMs, source, members } = options;
  const all = new Map<string, Tracked>();
  /**
   * Each tracked member is in one of these: `waiting` until it is at rest, then `notified`, with the time when its owner was
   * notified, oldest first.
   */
  const waiting = new Map<string, Tracked>();
  const notified = new Map<string, number>();
  /** The most members that were changing at a time, since none was. */
  let most = 0;

  const forget = (id: string) => {
    waiting.delete(id);
    notified.delete(id);
  };

  /** The usual end of a change, while few members change. */
  const usualOf = ({ action, isNew }: Tracked) => (most <= few && isNew ? source.durations?.usual(action) : undefined);

  const readAfter = (entry: Tracked, readAt: number): number =>
    entry.trackedAt + nextRead(Math.max(0, readAt - entry.trackedAt), usualOf(entry), busyMs);

  return {
    all,
    waiting,
    get notifiedSince() {
      const [oldest] = notified.values();
      return oldest;
    },
    get usualRead() {
      if (waiting.size === 0 || waiting.values().some((entry) => !usualOf(entry))) return undefined;
      return Math.min(...waiting.values().map((entry) => readAfter(entry, members.listedAt ?? 0)));
    },
    add(id, change) {
      forget(id);
      if (waiting.size === 0) most = 0;
      const entry = begin(change, members.item(id) !== undefined, options);
      all.set(id, entry);
      waiting.set(id, entry);
      most = Math.max(most, waiting.size);
      entry.readDueAt = readAfter(entry, entry.trackedAt);
    },
    delete(id) {
      all.delete(id);
      forget(id);
    },
    settle(id, entry) {
      if ((members.asOf(id) ?? 0) <= entry.trackedAt) return false;
      const item = members.item(id);
      const isOver = item === undefined ? expectsAbsence(entry) || ended(entry) : !source.isBusy(item);
      learnFrom(source.durations, entry, members.asOf(id) ?? 0, isOver);
      forget(id);
      if (isOver) notified.set(id, clock.monotonic());
      else waiting.set(id, entry);
      return isOver;
    },
    readAfter,
  };
}
