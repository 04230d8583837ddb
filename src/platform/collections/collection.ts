import { yieldIfDue } from "../../runtime/time-slices.ts";
import { PlatformError, Retry } from "../answers/errors.ts";
import { exceedsLimit, limits } from "../answers/limits.ts";
import { createBatchWindow } from "./batch-window.ts";
import { createChangeTracker } from "./changes/change-tracker.ts";
import type { Collection, CollectionListener, CollectionOptions } from "./collection-interface.ts";
import { listDue, soonMs } from "./list-schedule.ts";
import { createMembers, type ReadStart } from "./members.ts";
import { restGap, retryGap, sharedGap } from "./poll-intervals.ts";
import { type CollectionSource, type Item, PartialList } from "./reading.ts";

export type { Collection, CollectionListener, CollectionOptions } from "./collection-interface.ts";
export type { Change, CollectionSource, Item, KnownRequest, Reading, RequestState } from "./reading.ts";

export function openCollection(source: CollectionSource, options: CollectionOptions): Collection {
  const { clock, random = Math.random, restMs = 300_000, busyMs = 1_500, log } = options;
  const longestWait = () => sharedGap(members.size, busyMs);
  const closing = new AbortController();
  const listeners = new Set<CollectionListener>();
  const members = createMembers();
  const changes = createChangeTracker({
    clock,
    random,
    busyMs,
    restMs,
    source,
    members,
    signal: closing.signal,
    changed(ids) {
      changedAt = clock.monotonic();
      notify(new Set(ids));
    },
    moved: () => schedule(),
  });

  /** Expected members that no read has shown, and since when. */
  const expected = new Map<string, number>();
  let problem: PlatformError | undefined;
  let failures = 0;
  let listing = false;
  /** When the last list ended, and how long to wait after it if nothing happens. */
  let endedAt = Number.NEGATIVE_INFINITY;
  let waitMs = 0;
  /** Ids that are notified when the next list ends. */
  const idsToNotify = new Set<string>();
  /** Requests for a list (`refresh`) that no list serves yet. */
  const refreshes = createBatchWindow(clock, soonMs.shortest, longestWait);
  /** The last single reads, in place of a list that does not show all members, and how often they failed in a row. */
  const singleReads = { endedAt: Number.NEGATIVE_INFINITY, failures: 0 };
  /** `isDoubtful`: the last list missed members that were seen before. `othersBusy`: it showed members that others are changing. */
  let isDoubtful = false;
  let othersBusy = false;
  let changedAt = clock.monotonic();
  let cancelTimer: (() => void) | undefined;
  let timerAt = Number.POSITIVE_INFINITY;

  const notify = (ids: ReadonlySet<string> | "all") => {
    for (const listener of [...listeners]) {
      try {
        listener(ids);
      } catch (error) {
        log?.warn({ err: error, collection: source.key }, "listener failed");
      }
    }
  };

  /** Single reads are not needed while a list is running or requested, because it shows all members. */
  const oneByOne = () => {
    if (listing) return false;
    return isPartial() ? changes.size > 0 : refreshes.since === undefined && changes.oneByOne;
  };
  const isTooLarge = () => problem !== undefined && exceedsLimit(problem);
  const isPartial = () => isTooLarge() || problem instanceof PartialList;

  const nextList = (): number =>
    listDue({
      endedAt,
      waitMs,
      failures,
      problem: isPartial() ? "partial" : problem instanceof Retry ? "temporary" : problem && "lasting",
      refresh: refreshes.since === undefined ? undefined : { since: refreshes.since, dueAt: refreshes.dueAt ?? 0 },
      singleReads,
      isDoubtful: isDoubtful || changes.isVanishing,
      expectedSince: expected.size > 0 ? Math.max(...expected.values()) : undefined,
      changedAt,
      changesFrom: oneByOne() ? undefined : changes.worthListing,
      changesGap: changes.listGap,
      usualRead: changes.listGap > busyMs ? undefined : changes.usualRead,
      notifyAgain: changes.notifyAgain,
      othersBusy,
      size: members.size,
      longest: longestWait(),
      busyMs,
      restMs,
    });

  const schedule = () => {
    if (closing.signal.aborted) return;
    const due = Math.min(
      listing ? Number.POSITIVE_INFINITY : nextList(),
      oneByOne() ? changes.readDueAt : Number.POSITIVE_INFINITY,
    );
    // An earlier timer reschedules when it fires. Resetting it each time would let many calls delay it.
    if (due >= timerAt) return;
    cancelTimer?.();
    timerAt = due;
    cancelTimer = clock.after(Math.max(0, due - clock.monotonic()), wake);
  };

  const wake = () => {
    timerAt = Number.POSITIVE_INFINITY;
    if (!listing && nextList() <= clock.monotonic()) {
      void (isPartial() && clock.monotonic() < endedAt + waitMs ? readSingly() : list());
    }
    if (oneByOne()) changes.startDueReads();
    schedule();
  };

  /** In place of a list that does not show all members: reads the requested members one by one, and notifies their owners. */
  const readSingly = async () => {
    listing = true;
    const toNotify = [...idsToNotify];
    idsToNotify.clear();
    refreshes.clear();
    singleReads.failures += 1;
    for (const id of toNotify) {
      const read = members.beginRead(clock.monotonic());
      const answer = await source.get?.(id, closing.signal).then(
        (item) => ({ item }),
        () => undefined,
      );
      if (closing.signal.aborted) return;
      // The others would probably fail too. A notified owner asks again.
      if (!answer) break;
      singleReads.failures = 0;
      members.one(read, id, answer.item, false);
    }
    listing = false;
    singleReads.endedAt = clock.monotonic();
    notify(new Set(toNotify));
    schedule();
  };

  /** Applies what a list with invalid items shows: presence only. Returns the ids whose state has changed. */
  const applyPartial = async (read: ReadStart, items: readonly Item[]) => {
    const changed = new Set<string>();
    for (const item of items) {
      const isKnown = members.item(item.id) !== undefined;
      // No absence is seen, so the number of members would have no limit.
      if (!isKnown && members.size >= limits.items) continue;
      if (members.one(read, item.id, item, false)) changed.add(item.id);
      expected.delete(item.id);
      const wait = yieldIfDue(clock);
      if (wait) await wait;
    }
    if (changed.size > 0) changedAt = clock.monotonic();
    return changed;
  };

  const list = async () => {
    listing = true;
    const isRefresh = refreshes.since !== undefined;
    const resting = changes.size === 0 && !isRefresh && !isDoubtful && members.listedAt !== undefined;
    const toNotify = [...idsToNotify];
    idsToNotify.clear();
    refreshes.clear();
    changes.beforeList();
    const read = members.beginRead(clock.monotonic());
    const began = clock.monotonic();
    let news: ReadonlySet<string> | "all" | undefined;
    try {
      const items = await source.list(closing.signal, resting ? "background" : "normal");
      if (closing.signal.aborted) return;
      const first = members.listedAt === undefined;
      const listed = await members.list(read, items, changes.expectsAbsence, () => yieldIfDue(clock));
      if (closing.signal.aborted) return;
      isDoubtful = listed.doubted.values().some((id) => !changes.isLeaving(id));
      for (const id of expected.keys()) if (members.item(id)) expected.delete(id);
      othersBusy = items.some((item) => source.isBusy(item) && !changes.has(item.id));
      if (listed.changed.size > 0) changedAt = clock.monotonic();
      const rested = changes.afterList(began, listed);
      // The owner of a tracked member knows that it is busy, and is notified when its deletion has ended.
      const isNews = (id: string) => {
        const item = changes.has(id) && !listed.appeared.has(id) ? members.item(id) : undefined;
        return item ? !source.isBusy(item) : !changes.isLeaving(id);
      };
      const some = new Set([...listed.changed].filter(isNews));
      for (const id of [...rested, ...toNotify]) some.add(id);
      news = first || problem ? "all" : some.size > 0 || isRefresh ? some : undefined;
      problem = undefined;
      failures = 0;
      waitMs = restGap(restMs, random);
    } catch (error) {
      if (closing.signal.aborted) return;
      const before = problem;
      problem = error instanceof PlatformError ? error : unexpected(error, source.key);
      failures = before?.kind === problem.kind ? failures + 1 : 1;
      waitMs = isPartial() ? restGap(restMs, random) : retryGap(problem, failures, random, { busyMs, restMs });
      if (problem instanceof PartialList) {
        const some = new Set([...(await applyPartial(read, problem.items)), ...toNotify]);
        if (some.size > 0 || isRefresh) news = some;
      }
      if (closing.signal.aborted) return;
      const isParentGone = problem.kind === "NotFound" && failures === 2 && members.size > 0;
      if (isParentGone) members.clear(read);
      if (isParentGone || before?.kind !== problem.kind || before.status !== problem.status) {
        news = "all";
        log?.warn({ collection: source.key, problem: problem.message }, "list failed");
      }
    } finally {
      listing = false;
      endedAt = clock.monotonic();
    }
    if (news) notify(news);
    schedule();
  };

  schedule();
  return {
    key: source.key,
    read: (id) => ({
      item: members.item(id),
      asOf: members.asOf(id),
      request: changes.request(id),
    }),
    members: () => members.items(),
    isLeaving: (id) => changes.isLeaving(id),
    get listedAt() {
      return members.listedAt;
    },
    get problem() {
      return problem;
    },
    get changing() {
      return changes.size;
    },
    get changedAt() {
      return changedAt;
    },
    get gone() {
      return problem?.kind === "NotFound";
    },
    get isTooLarge() {
      return isTooLarge();
    },
    get isPartial() {
      return isPartial();
    },
    track(id, change) {
      if (!changes.track(id, change)) return;
      changedAt = clock.monotonic();
      schedule();
    },
    expect(id) {
      if (expected.has(id) || members.item(id)) return;
      expected.set(id, clock.monotonic());
      schedule();
    },
    untrack(id) {
      changes.untrack(id);
      expected.delete(id);
      schedule();
    },
    refresh(ids) {
      refreshes.add();
      for (const id of ids) idsToNotify.add(id);
      schedule();
    },
    ask: (id) => changes.ask(id),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      closing.abort(new Error(`the collection ${source.key} was closed`));
      cancelTimer?.();
      listeners.clear();
      members.clear(members.beginRead(clock.monotonic()));
      source.close?.();
    },
  };
}

/** Wraps any other error of a source, so that the collection continues. */
function unexpected(error: unknown, key: string): PlatformError {
  const detail = error instanceof Error ? error.message : String(error);
  return new Retry({ call: `GET ${key}`, status: 0, detail, cause: error }, "no");
}
