import { NotFound, PlatformError } from "../answers/errors.ts";
import { createArrivalCount, createBatchWindow } from "./batch-window.ts";
import { retryGap, sharedGap } from "./poll-intervals.ts";
import type { RequestState } from "./reading.ts";
import { sameJson } from "./same-json.ts";
import {
  begin,
  type ChangeTracker,
  type ChangeTrackerOptions,
  ended,
  expectsAbsence,
  firstReasonMs,
  isFailed,
  isLeaving,
  learnFrom,
  miss,
  type Tracked,
} from "./tracked.ts";
import { nextRead } from "./usual-durations.ts";

/** Reading one member until it is at rest costs as much as a list of this many members. */
const readCost = 50;
/** An owner waits longer for a list than for a read: while changes follow each other, a list must save this many times its cost. */
const leastSaving = 2;
/** For each change, this many members may be listed per poll interval. */
const membersPerChange = 16;
const reasonsPerList = 8;
const longestReasonGapMs = 60_000;
const unknownRequestLimit = 3;
/** A deletion without a request has ended when this many lists, and then a read of the member, miss it. */
const missingLists = 2;
/** After this, a request that the shared call does not show is read alone. */
const askAloneMs = 30_000;
/** A notified owner is reconciled when its key has its turn, which takes a while with thousands of objects. */
const notifyAgainMs = 60_000;
/** With more changing members at a time, usual durations are ignored: lists at the poll interval serve them together. */
const few = 4;

export function createChangeTracker(options: ChangeTrackerOptions): ChangeTracker {
  const { clock, random, busyMs, source, members, signal } = options;
  const tracked = new Map<string, Tracked>();
  /**
   * Each tracked member is in one of these: `waiting` until it is at rest, then `notified`, with the time when its owner was
   * notified, oldest first.
   */
  const waiting = new Map<string, Tracked>();
  const notified = new Map<string, number>();
  const longest = () => sharedGap(members.size, busyMs);
  /** Changes that no list can have shown yet. */
  const window = createBatchWindow(clock, busyMs, longest);
  const arrivals = createArrivalCount(clock, longest);
  let vanishing = false;
  /** The most members that were changing at a time, since none was. */
  let most = 0;

  const hasRequest = ({ url }: Tracked) => url !== undefined && source.requestStatus !== undefined;

  /** Reads a member. `news`: the cached state has changed. `isMissed`: the member was not found. */
  const readMember = async (id: string, entry: Tracked): Promise<{ news: boolean; isMissed: boolean }> => {
    const read = members.beginRead(clock.monotonic());
    const item = await source.get?.(id, signal);
    const news = !signal.aborted && members.one(read, id, item, expectsAbsence(entry));
    return { news, isMissed: item === undefined };
  };

  const forget = (id: string) => {
    waiting.delete(id);
    notified.delete(id);
  };

  /**
   * Whether a read that started after the change shows the member at rest. Then its owner is notified, and the member is no
   * longer polled.
   */
  const settle = (id: string, entry: Tracked): boolean => {
    if ((members.asOf(id) ?? 0) <= entry.trackedAt) return false;
    const item = members.item(id);
    const isOver = item === undefined ? expectsAbsence(entry) || ended(entry) : !source.isBusy(item);
    learnFrom(source.durations, entry, members.asOf(id) ?? 0, isOver);
    forget(id);
    if (isOver) notified.set(id, clock.monotonic());
    else waiting.set(id, entry);
    return isOver;
  };

  /** The usual end of a change, while few members change. */
  const usualOf = ({ action, isNew }: Tracked) => (most <= few && isNew ? source.durations?.usual(action) : undefined);

  /** When to read a member after a read that began at `readAt`. */
  const readAfter = (entry: Tracked, readAt: number): number =>
    entry.trackedAt + nextRead(Math.max(0, readAt - entry.trackedAt), usualOf(entry), busyMs);

  /** Reads the status of the request and, when it has ended, the member. True when there is something new. */
  const readRequest = async (id: string, entry: Tracked): Promise<boolean> => {
    if (entry.url !== undefined && source.requestStatus && !ended(entry)) {
      const state = await source.requestStatus(entry.url, signal);
      entry.request = { ...state, knownAt: clock.monotonic() };
      if (!ended(entry)) return false;
      const failedUnseen = entry.request.status === "FAILED" && members.item(id) === undefined;
      if (failedUnseen || !source.get) return true;
    }
    if (!source.get) return ended(entry);
    const { news, isMissed } = await readMember(id, entry);
    if (isLeaving(entry) && !hasRequest(entry)) {
      miss(entry, isMissed, "reads", clock.monotonic());
      const { lists = 0, reads = 0 } = entry.missed ?? {};
      if (reads > 0 && lists + reads > missingLists) end(id, entry, { status: "DONE", targets: [] });
    }
    return news || ended(entry);
  };

  /** Records that the request of a change has ended. After a successful deletion, the member is gone. */
  const end = (id: string, entry: Tracked, state: RequestState) => {
    entry.request = { ...state, knownAt: clock.monotonic() };
    if (isLeaving(entry) && state.status === "DONE") {
      members.one(members.beginRead(clock.monotonic()), id, undefined, true);
    }
  };

  /** Checks deletions whose members a list has missed, all in one call. */
  const readDeletions = async (missing: [string, Tracked][]) => {
    const since = Math.min(...missing.map(([, { change }]) => change.since));
    for (const [, entry] of missing) entry.isReading = true;
    // If the call fails, the next list triggers it again.
    const states = await source.deletions?.(since, signal).catch(() => undefined);
    if (signal.aborted) return;
    const done: string[] = [];
    for (const [id, entry] of missing) {
      entry.isReading = false;
      const requestId = /\/requests\/([^/]+)\/status/.exec(entry.url ?? "")?.[1] ?? "";
      const state = states?.get(requestId);
      if (tracked.get(id) !== entry) continue;
      if (state?.status === "DONE") {
        end(id, entry, state);
        if (settle(id, entry)) done.push(id);
      }
      // The reason of a failure is only in the status of that request.
      else if (state?.status === "FAILED" || entry.asked) void startRead(id, entry, readRequest);
    }
    if (done.length > 0) options.changed(done);
    options.moved();
  };

  /**
   * Reads the member, which shows whether it is at rest, as in a list. Reads its request only if that is not enough: the member
   * failed, is not found, is being deleted, or its owner asked.
   */
  const readChange = async (id: string, entry: Tracked): Promise<boolean> => {
    if (!source.get || isLeaving(entry) || entry.asked) return readRequest(id, entry);
    const { news, isMissed } = await readMember(id, entry);
    if (!entry.asked && !needsReason(id, entry, isMissed)) return news;
    putOffReason(entry);
    return readRequest(id, entry);
  };

  const startRead = async (id: string, entry: Tracked, read = readChange) => {
    entry.isReading = true;
    let news = false;
    try {
      news = await read(id, entry);
      entry.failures = 0;
      entry.readDueAt = readAfter(entry, clock.monotonic());
      if (tracked.get(id) === entry && settle(id, entry)) news = true;
    } catch (error) {
      entry.failures += 1;
      const gap = error instanceof PlatformError ? retryGap(error, entry.failures, random, options) : busyMs;
      entry.readDueAt = clock.monotonic() + gap;
      if (error instanceof NotFound && entry.failures >= unknownRequestLimit) {
        // The platform keeps requests for a limited time. A request that it no longer knows has ended.
        entry.url = undefined;
        entry.request = { status: "DONE", targets: [], knownAt: clock.monotonic() };
        news = true;
      }
    }
    entry.isReading = false;
    if (signal.aborted || tracked.get(id) !== entry) return;
    if (news || entry.asked) options.changed([id]);
    entry.asked = false;
    options.moved();
  };

  /** Whether to read the request: the member failed, vanished, or should have appeared by now. */
  const needsReason = (id: string, entry: Tracked, isMissed: boolean): boolean => {
    if (ended(entry) || !hasRequest(entry) || isLeaving(entry)) return false;
    if (clock.monotonic() < entry.nextReason) return false;
    const item = members.item(id);
    if (item !== undefined) return isMissed || isFailed(item.state);
    return clock.monotonic() - entry.trackedAt >= firstReasonMs;
  };

  const putOffReason = (entry: Tracked) => {
    entry.nextReason = clock.monotonic() + entry.reasonGap;
    entry.reasonGap = Math.min(entry.reasonGap * 2, longestReasonGapMs);
  };

  return {
    get size() {
      return tracked.size;
    },
    get worthListing() {
      if (waiting.size === 0) return undefined;
      return window.dueAt ?? Number.NEGATIVE_INFINITY;
    },
    get oneByOne() {
      if (waiting.size === 0 || waiting.size * readCost >= members.size) return false;
      if (arrivals.size * readCost >= leastSaving * members.size) return false;
      return waiting.values().every((entry) => hasRequest(entry) || source.get !== undefined);
    },
    get isVanishing() {
      return vanishing && window.dueAt === undefined;
    },
    get listGap() {
      const shares = members.size / (waiting.size * membersPerChange);
      return Math.min(busyMs * Math.max(shares, 1), longest());
    },
    get readDueAt() {
      return Math.min(
        ...waiting.values().map(({ isReading, readDueAt }) => (isReading ? Number.POSITIVE_INFINITY : readDueAt)),
      );
    },
    get usualRead() {
      if (waiting.size === 0 || waiting.values().some((entry) => !usualOf(entry))) return undefined;
      return Math.min(...waiting.values().map((entry) => readAfter(entry, members.listedAt ?? 0)));
    },
    get notifyAgain() {
      const [oldest] = notified.values();
      return oldest === undefined ? undefined : oldest + notifyAgainMs;
    },
    has: (id) => tracked.has(id),
    isLeaving: (id) => tracked.get(id)?.change.leaving === true,
    track(id, change) {
      const known = tracked.get(id);
      if (known && sameJson(known.change, change)) return false;
      window.add();
      arrivals.add();
      forget(id);
      if (waiting.size === 0) most = 0;
      const entry = begin(change, members.item(id) !== undefined, options);
      tracked.set(id, entry);
      waiting.set(id, entry);
      most = Math.max(most, waiting.size);
      entry.readDueAt = readAfter(entry, entry.trackedAt);
      return true;
    },
    untrack(id) {
      tracked.delete(id);
      forget(id);
    },
    request: (id) => tracked.get(id)?.request,
    expectsAbsence: (id) => expectsAbsence(tracked.get(id)),
    startDueReads() {
      const now = clock.monotonic();
      for (const [id, entry] of waiting) if (!entry.isReading && entry.readDueAt <= now) void startRead(id, entry);
    },
    ask(id) {
      const entry = tracked.get(id);
      if (entry === undefined) return;
      entry.asked = true;
      if (!entry.isReading) void startRead(id, entry);
    },
    beforeList: window.clear,
    afterList(began, listed) {
      const resting: string[] = [];
      const missing: [string, Tracked][] = [];
      const now = clock.monotonic();
      let reasons = 0;
      vanishing = false;
      for (const [id, entry] of tracked) {
        if (entry.trackedAt >= began) continue;
        const item = members.item(id);
        if (isLeaving(entry)) miss(entry, item === undefined || listed.doubted.has(id), "lists", now);
        if (entry.missed && !ended(entry)) {
          if (entry.isReading) continue;
          if (!hasRequest(entry)) {
            if (entry.missed.lists >= missingLists) void startRead(id, entry, readRequest);
            // Wait for one more list.
            else vanishing = true;
          } else if (source.deletions && now - entry.missed.at < askAloneMs) {
            missing.push([id, entry]);
          } else if (reasons < reasonsPerList && now >= entry.nextReason) {
            reasons += 1;
            putOffReason(entry);
            void startRead(id, entry, readRequest);
          }
          continue;
        }
        if (settle(id, entry)) resting.push(id);
        if (reasons < reasonsPerList && !entry.isReading && needsReason(id, entry, listed.doubted.has(id))) {
          reasons += 1;
          putOffReason(entry);
          void startRead(id, entry, readRequest);
        }
      }
      if (missing.length > 0) void readDeletions(missing);
      return resting;
    },
  };
}
