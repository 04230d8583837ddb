import { Retry } from "../answers/errors.ts";
import type { Log } from "../calls/call.ts";
import { createChangeTracker } from "./changes/change-tracker.ts";
import type { ChangeTracker, CollectionReads, SinglyRead } from "./changes/tracked.ts";
import type { CollectionListener } from "./collection-interface.ts";
import { isGone, isPartial, type LastList, noList } from "./lists/last-list.ts";
import { createListReader, type ListOptions } from "./lists/list-reader.ts";
import { listDue } from "./lists/list-schedule.ts";
import { createOwnerRequests, type OwnerRequests } from "./lists/owner-requests.ts";
import { createSingleReads } from "./lists/single-reads.ts";
import { sharedGap } from "./poll-intervals.ts";

/** The reads of a collection, and their schedule: never two lists at once. After the abort, nothing is started or notified. */
export interface Polling {
  readonly changes: ChangeTracker;
  readonly requests: OwnerRequests;
  readonly last: Readonly<LastList>;
  /** When a member last changed or was tracked, on the monotonic clock. */
  readonly changedAt: number;
  /** A member changes: reads are frequent again. */
  changed(): void;
  /** The time of the next read may have changed. */
  schedule(): void;
  stop(): void;
}

export interface PollingOptions extends CollectionReads {
  log: Log | undefined;
  notify: CollectionListener;
}

export function createPolling(options: PollingOptions): Polling {
  const { clock, busyMs, restMs, members, signal, notify } = options;
  let changedAt = clock.monotonic();
  let cancelTimer: (() => void) | undefined;
  let timerAt = Number.POSITIVE_INFINITY;
  const changed = () => {
    changedAt = clock.monotonic();
  };

  const changes = createChangeTracker({
    ...options,
    changed(ids) {
      changed();
      notify(new Set(ids));
    },
    moved: () => schedule(),
  });
  const requests = createOwnerRequests(clock, members, busyMs);
  const last = noList();
  const reading: ListOptions = {
    ...options,
    changes,
    requests,
    changed,
    ended(news) {
      if (news) notify(news);
      schedule();
    },
  };
  const readList = createListReader(reading, last);
  const singleReads = createSingleReads(reading, last);

  /**
   * Single reads are not needed while a list is running or requested, because it shows all members. Without the parent, only
   * requests are read: that a member is not found there proves nothing.
   */
  const oneByOne = (): SinglyRead | undefined => {
    if (last.isRunning) return undefined;
    if (isGone(last)) return "requests";
    const isEnough = isPartial(last) || (requests.refreshDue === undefined && changes.oneByOne);
    return isEnough ? "all" : undefined;
  };

  const nextList = (): number => {
    const { endedAt, waitMs, failures, problem, othersBusy } = last;
    return listDue({
      endedAt,
      waitMs,
      failures,
      problem: isPartial(last) ? "partial" : problem instanceof Retry ? "temporary" : problem && "lasting",
      refresh: requests.refreshDue,
      singleReads,
      isDoubtful: last.isDoubtful || changes.isVanishing,
      expectedSince: requests.expectedSince,
      changedAt,
      changesFrom: oneByOne() ? undefined : changes.worthListing,
      changesGap: changes.listGap,
      usualRead: changes.listGap > busyMs ? undefined : changes.usualRead,
      notifyAgain: changes.notifyAgain,
      othersBusy,
      size: members.size,
      longest: sharedGap(members.size, busyMs),
      busyMs,
      restMs,
    });
  };

  const schedule = () => {
    if (signal.aborted) return;
    const due = Math.min(last.isRunning ? Number.POSITIVE_INFINITY : nextList(), changes.readDueAt(oneByOne()));
    // An earlier timer reschedules when it fires. Resetting it each time would let many calls delay it.
    if (due >= timerAt) return;
    cancelTimer?.();
    timerAt = due;
    cancelTimer = clock.after(Math.max(0, due - clock.monotonic()), wake);
  };

  const wake = () => {
    timerAt = Number.POSITIVE_INFINITY;
    if (!last.isRunning && nextList() <= clock.monotonic()) {
      void (isPartial(last) && clock.monotonic() < last.endedAt + last.waitMs ? singleReads.start() : readList());
    }
    changes.startDueReads(oneByOne());
    schedule();
  };

  return {
    changes,
    requests,
    last,
    get changedAt() {
      return changedAt;
    },
    changed,
    schedule,
    stop: () => cancelTimer?.(),
  };
}
