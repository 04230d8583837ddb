import { NotFound, PlatformError } from "../answers/errors.ts";
import { createArrivalCount, createBatchWindow } from "./batch-window.ts";
import { lookGap, retryGap, sharedGap } from "./poll-intervals.ts";
import type { RequestState } from "./reading.ts";
import { sameJson } from "./same-json.ts";
import {
  begin,
  type ChangeTracker,
  type ChangeTrackerOptions,
  ended,
  expectsAbsence,
  firstReasonMs,
  isLeaving,
  miss,
  type Tracked,
} from "./tracked.ts";

/** Looking at one member until it is done costs as much as listing so many. */
const lookCost = 50;
/** A list is waited for: where one change follows another, so many times as much has to be saved by it. */
const patience = 2;
/** For each change, so many members may be listed every poll interval. */
const membersPerChange = 16;
const reasonsPerList = 8;
const longestReasonGapMs = 60_000;
const unknownRequestLimit = 3;
/** A deletion without a request is over when so many lists, and then a read of the member itself, miss it. */
const missingLists = 2;
/** A request that is not among those that are asked together is asked by itself after this. */
const askAloneMs = 30_000;
/** Who was told looks when it has its turn. With thousands of objects that takes a while. */
const tellAgainMs = 60_000;

export function createChangeTracker(options: ChangeTrackerOptions): ChangeTracker {
  const { clock, random, busyMs, source, members, signal } = options;
  const tracked = new Map<string, Tracked>();
  /** Each of them is in one of these: its owner does not know yet that it has come to rest, or was told at this time, the oldest first. */
  const waiting = new Map<string, Tracked>();
  const told = new Map<string, number>();
  const longest = () => sharedGap(members.size, busyMs);
  /** The changes that no list can have shown yet. */
  const window = createBatchWindow(clock, busyMs, longest);
  const arrivals = createArrivalCount(clock, longest);
  let vanishing = false;

  const canAsk = ({ url }: Tracked) => url !== undefined && source.requestStatus !== undefined;

  /** Whether that changed what is known, and whether it was not found. */
  const readMember = async (id: string, entry: Tracked): Promise<{ news: boolean; isMissed: boolean }> => {
    const read = members.beginRead(clock.monotonic());
    const item = await source.get?.(id, signal);
    const news = !signal.aborted && members.one(read, id, item, expectsAbsence(entry));
    return { news, isMissed: item === undefined };
  };

  const forget = (id: string) => {
    waiting.delete(id);
    told.delete(id);
  };

  /** Whether a reading since the change shows the member at rest. Its owner is told then, and it need not be looked at any more. */
  const settle = (id: string, entry: Tracked): boolean => {
    if ((members.asOf(id) ?? 0) <= entry.trackedAt) return false;
    const item = members.item(id);
    const isOver = item === undefined ? expectsAbsence(entry) || ended(entry) : !source.isBusy(item);
    forget(id);
    if (isOver) told.set(id, clock.monotonic());
    else waiting.set(id, entry);
    return isOver;
  };

  /** Asks for the request and, when that has ended, reads the member it was about. True when that is news. */
  const askAbout = async (id: string, entry: Tracked): Promise<boolean> => {
    if (entry.url !== undefined && source.requestStatus && !ended(entry)) {
      const state = await source.requestStatus(entry.url, signal);
      entry.request = { ...state, knownAt: clock.monotonic() };
      if (!ended(entry)) return false;
      const failedUnseen = entry.request.status === "FAILED" && members.item(id) === undefined;
      if (failedUnseen || !source.get) return true;
    }
    if (!source.get) return ended(entry);
    const { news, isMissed } = await readMember(id, entry);
    if (isLeaving(entry) && !canAsk(entry)) {
      miss(entry, isMissed, "reads", clock.monotonic());
      const { lists = 0, reads = 0 } = entry.missed ?? {};
      if (reads > 0 && lists + reads > missingLists) end(id, entry, { status: "DONE", targets: [] });
    }
    return news || ended(entry);
  };

  /** The request of a change is over; of a deletion that is done, the member is not there any more. */
  const end = (id: string, entry: Tracked, state: RequestState) => {
    entry.request = { ...state, knownAt: clock.monotonic() };
    if (isLeaving(entry) && state.status === "DONE") {
      members.one(members.beginRead(clock.monotonic()), id, undefined, true);
    }
  };

  /** Asks whether deletions are over whose members a list has missed: in one call, where their requests can be listed. */
  const askTogether = async (missing: [string, Tracked][]) => {
    const since = Math.min(...missing.map(([, { change }]) => change.since));
    for (const [, entry] of missing) entry.looking = true;
    // When it cannot be asked, the next list asks again.
    const states = await source.deletions?.(since, signal).catch(() => undefined);
    if (signal.aborted) return;
    const done: string[] = [];
    for (const [id, entry] of missing) {
      entry.looking = false;
      const state = states?.get(/\/requests\/([^/]+)\/status/.exec(entry.url ?? "")?.[1] ?? "");
      if (tracked.get(id) !== entry) continue;
      if (state?.status === "DONE") {
        end(id, entry, state);
        if (settle(id, entry)) done.push(id);
      }
      // Why it failed stands in its own status.
      else if (state?.status === "FAILED" || entry.asked) void look(id, entry, askAbout);
    }
    if (done.length > 0) options.changed(done);
    options.moved();
  };

  /**
   * Reads the member, which tells by itself that it has come to rest, as in a list. Its request is asked where that does
   * not tell enough: it failed, is not found, is being deleted, or its owner wants to know.
   */
  const lookAt = async (id: string, entry: Tracked): Promise<boolean> => {
    if (!source.get || isLeaving(entry) || entry.asked) return askAbout(id, entry);
    const { news, isMissed } = await readMember(id, entry);
    if (!entry.asked && !needsReason(id, entry, isMissed)) return news;
    putOffReason(entry);
    return askAbout(id, entry);
  };

  const look = async (id: string, entry: Tracked, way = lookAt) => {
    entry.looking = true;
    let news = false;
    try {
      news = await way(id, entry);
      entry.failures = 0;
      entry.nextLook = clock.monotonic() + lookGap(clock.monotonic() - entry.trackedAt, busyMs);
      if (tracked.get(id) === entry && settle(id, entry)) news = true;
    } catch (error) {
      entry.failures += 1;
      const gap = error instanceof PlatformError ? retryGap(error, entry.failures, random, options) : busyMs;
      entry.nextLook = clock.monotonic() + gap;
      if (error instanceof NotFound && entry.failures >= unknownRequestLimit) {
        // The platform keeps requests for a while only. One that it no longer knows is under way no more.
        entry.url = undefined;
        entry.request = { status: "DONE", targets: [], knownAt: clock.monotonic() };
        news = true;
      }
    }
    entry.looking = false;
    if (signal.aborted || tracked.get(id) !== entry) return;
    if (news || entry.asked) options.changed([id]);
    entry.asked = false;
    options.moved();
  };

  /** Whether a read gives cause to ask for the request: the member failed, vanished, or should have appeared by now. */
  const needsReason = (id: string, entry: Tracked, isMissed: boolean): boolean => {
    if (ended(entry) || !canAsk(entry) || isLeaving(entry)) return false;
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
      if (waiting.size === 0 || waiting.size * lookCost >= members.size) return false;
      if (arrivals.size * lookCost >= patience * members.size) return false;
      return waiting.values().every((entry) => canAsk(entry) || source.get !== undefined);
    },
    get isVanishing() {
      return vanishing && window.dueAt === undefined;
    },
    get listGap() {
      const shares = members.size / (waiting.size * membersPerChange);
      return Math.min(busyMs * Math.max(shares, 1), longest());
    },
    get nextLook() {
      return Math.min(
        ...waiting.values().map(({ looking, nextLook }) => (looking ? Number.POSITIVE_INFINITY : nextLook)),
      );
    },
    get tellAgain() {
      const [oldest] = told.values();
      return oldest === undefined ? undefined : oldest + tellAgainMs;
    },
    has: (id) => tracked.has(id),
    isLeaving: (id) => tracked.get(id)?.change.leaving === true,
    track(id, change) {
      const known = tracked.get(id);
      if (known && sameJson(known.change, change)) return false;
      const now = clock.monotonic();
      window.add();
      arrivals.add();
      forget(id);
      const entry = begin(change, now, busyMs);
      tracked.set(id, entry);
      waiting.set(id, entry);
      return true;
    },
    untrack(id) {
      tracked.delete(id);
      forget(id);
    },
    request: (id) => tracked.get(id)?.request,
    expectsAbsence: (id) => expectsAbsence(tracked.get(id)),
    lookAtDue() {
      const now = clock.monotonic();
      for (const [id, entry] of waiting) if (!entry.looking && entry.nextLook <= now) void look(id, entry);
    },
    ask(id) {
      const entry = tracked.get(id);
      if (entry === undefined) return;
      entry.asked = true;
      if (!entry.looking) void look(id, entry);
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
          if (entry.looking) continue;
          if (!canAsk(entry)) {
            if (entry.missed.lists >= missingLists) void look(id, entry, askAbout);
            // The next list tells more.
            else vanishing = true;
          } else if (source.deletions && now - entry.missed.at < askAloneMs) {
            missing.push([id, entry]);
          } else if (reasons < reasonsPerList && now >= entry.nextReason) {
            reasons += 1;
            putOffReason(entry);
            void look(id, entry, askAbout);
          }
          continue;
        }
        if (settle(id, entry)) resting.push(id);
        if (reasons < reasonsPerList && !entry.looking && needsReason(id, entry, listed.doubted.has(id))) {
          reasons += 1;
          putOffReason(entry);
          void look(id, entry, askAbout);
        }
      }
      if (missing.length > 0) void askTogether(missing);
      return resting;
    },
  };
}

function isFailed(state: string | undefined): boolean {
  return state?.startsWith("FAILED") ?? false;
}
