import type { Clock } from "../../runtime/clock.ts";
import { yieldIfDue } from "../../runtime/time-slices.ts";
import { PlatformError, Retry } from "../answers/errors.ts";
import { exceedsLimit } from "../answers/limits.ts";
import type { Log } from "../calls/call.ts";
import { createBatchWindow } from "./batch-window.ts";
import { createChangeTracker } from "./change-tracker.ts";
import { createMembers } from "./members.ts";
import { lookGap, restGap, retryGap, sharedGap } from "./poll-intervals.ts";
import type { Change, CollectionSource, Item, Reading } from "./reading.ts";

export type { Change, CollectionSource, Item, KnownRequest, Reading, RequestState } from "./reading.ts";

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

/** Between a list and one that somebody waits for: the longer, the more there is to list. */
const soonMs = { shortest: 500, perMember: 6 };
const othersBusyGapMs = { shortest: 5_000, longest: 60_000 };

export function openCollection(source: CollectionSource, options: CollectionOptions): Collection {
  const { clock, random = Math.random, restMs = 300_000, busyMs = 1_500, log } = options;
  const longest = () => sharedGap(members.size, busyMs);
  const closing = new AbortController();
  const listeners = new Set<CollectionListener>();
  const members = createMembers();
  const flux = createChangeTracker({
    clock,
    random,
    busyMs,
    restMs,
    source,
    members,
    signal: closing.signal,
    changed(ids) {
      changedAt = clock.monotonic();
      tell(new Set(ids));
    },
    moved: () => schedule(),
  });

  /** Since when members are expected that no read has shown. */
  const expected = new Map<string, number>();
  let problem: PlatformError | undefined;
  let failures = 0;
  let listing = false;
  /** When the last list ended and how long to wait after it, were nothing to happen. */
  let endedAt = Number.NEGATIVE_INFINITY;
  let patience = 0;
  /** Who waits for a list to start, which they are told of when it ends. */
  const askers = new Set<string>();
  const asking = createBatchWindow(clock, soonMs.shortest, longest);
  /** The last reads one by one, instead of a list that is too large, and how often they failed in a row. */
  const singly = { endedAt: Number.NEGATIVE_INFINITY, failures: 0 };
  /** The last list left members in doubt; it showed members that others are changing. */
  let doubtful = false;
  let othersBusy = false;
  let changedAt = clock.monotonic();
  let cancelTimer: (() => void) | undefined;
  let timerAt = Number.POSITIVE_INFINITY;

  const tell = (ids: ReadonlySet<string> | "all") => {
    for (const listener of [...listeners]) {
      try {
        listener(ids);
      } catch (error) {
        log?.warn({ err: error, collection: source.key }, "listener failed");
      }
    }
  };

  const soonGap = () => Math.max(soonMs.shortest, Math.min(members.size * soonMs.perMember, longest()));

  /** A list that is under way, or that somebody asks for, shows all. */
  const oneByOne = () => !listing && (isTooLarge() ? flux.size > 0 : asking.since === undefined && flux.oneByOne);
  const isTooLarge = () => problem !== undefined && exceedsLimit(problem);

  /** When the list is due that somebody asks for. The first who ask get it at once; of a row who ask, many share one. */
  const askedDue = (soon: number): number => {
    const { since = 0, dueAt = 0 } = asking;
    return since - endedAt >= longest() ? soon : Math.max(soon, dueAt);
  };

  /** When the next list is due. */
  const listDue = (): number => {
    const rested = endedAt + patience;
    // Whoever asks for a list while none succeeds does not get one sooner each time.
    const soon = endedAt + soonGap() * 2 ** Math.min(failures, 7);
    const isWorthAsking = asking.since !== undefined && (isTooLarge() || !(problem instanceof Retry));
    const readDue = singly.endedAt + soonMs.shortest * 2 ** Math.min(singly.failures, 7);
    if (problem) return isWorthAsking ? Math.min(rested, isTooLarge() ? readDue : soon) : rested;
    const quiet = Math.max(0, endedAt - changedAt);
    const due = [rested];
    if (asking.since !== undefined) due.push(askedDue(soon));
    if (doubtful || flux.isVanishing) due.push(soon);
    if (expected.size > 0) due.push(endedAt + lookGap(endedAt - Math.max(...expected.values()), busyMs, restMs));
    const { worthListing, tellAgain } = flux;
    if (worthListing !== undefined && !oneByOne()) {
      due.push(Math.max(endedAt + lookGap(quiet, flux.listGap), worthListing));
    }
    if (tellAgain !== undefined) due.push(tellAgain);
    if (othersBusy) due.push(endedAt + lookGap(quiet, othersBusyGapMs.shortest, othersBusyGapMs.longest));
    return Math.min(...due);
  };

  const schedule = () => {
    if (closing.signal.aborted) return;
    const due = Math.min(
      listing ? Number.POSITIVE_INFINITY : listDue(),
      oneByOne() ? flux.nextLook : Number.POSITIVE_INFINITY,
    );
    // A timer that comes first looks by itself what is due next. Were it set anew each time, many calls would hold it off.
    if (due >= timerAt) return;
    cancelTimer?.();
    timerAt = due;
    cancelTimer = clock.after(Math.max(0, due - clock.monotonic()), wake);
  };

  const wake = () => {
    timerAt = Number.POSITIVE_INFINITY;
    if (!listing && listDue() <= clock.monotonic()) {
      void (isTooLarge() && clock.monotonic() < endedAt + patience ? readAsked() : list());
    }
    if (oneByOne()) flux.lookAtDue();
    schedule();
  };

  /** Instead of a list that is too large: reads those who ask one by one, and tells them. */
  const readAsked = async () => {
    listing = true;
    const asked = [...askers];
    askers.clear();
    asking.clear();
    singly.failures += 1;
    for (const id of asked) {
      const read = members.beginRead(clock.monotonic());
      const answer = await source.get?.(id, closing.signal).then(
        (item) => ({ item }),
        () => undefined,
      );
      if (closing.signal.aborted) return;
      // The others would probably fail as well; whoever is told asks again.
      if (!answer) break;
      singly.failures = 0;
      members.one(read, id, answer.item, false);
    }
    listing = false;
    singly.endedAt = clock.monotonic();
    tell(new Set(asked));
    schedule();
  };

  const list = async () => {
    listing = true;
    const isAsked = asking.since !== undefined;
    const resting = flux.size === 0 && !isAsked && !doubtful && members.listedAt !== undefined;
    const asked = [...askers];
    askers.clear();
    asking.clear();
    flux.beforeList();
    const read = members.beginRead(clock.monotonic());
    const began = clock.monotonic();
    let news: ReadonlySet<string> | "all" | undefined;
    try {
      const items = await source.list(closing.signal, resting ? "background" : "normal");
      if (closing.signal.aborted) return;
      const first = members.listedAt === undefined;
      const listed = await members.list(read, items, flux.expectsAbsence, () => yieldIfDue(clock));
      if (closing.signal.aborted) return;
      doubtful = listed.doubted.values().some((id) => !flux.isLeaving(id));
      for (const id of expected.keys()) if (members.item(id)) expected.delete(id);
      othersBusy = items.some((item) => source.isBusy(item) && !flux.has(item.id));
      if (listed.changed.size > 0) changedAt = clock.monotonic();
      const rested = flux.afterList(began, listed);
      // Whoever has it changed knows that it is busy, and is told when its deletion is over.
      const isNews = (id: string) => {
        const item = flux.has(id) && !listed.appeared.has(id) ? members.item(id) : undefined;
        return item ? !source.isBusy(item) : !flux.isLeaving(id);
      };
      const some = new Set([...listed.changed].filter(isNews));
      for (const id of [...rested, ...asked]) some.add(id);
      news = first || problem ? "all" : some.size > 0 || isAsked ? some : undefined;
      problem = undefined;
      failures = 0;
      patience = restGap(restMs, random);
    } catch (error) {
      if (closing.signal.aborted) return;
      const before = problem;
      problem = error instanceof PlatformError ? error : unexpected(error, source.key);
      failures = before?.kind === problem.kind ? failures + 1 : 1;
      patience = isTooLarge() ? restGap(restMs, random) : retryGap(problem, failures, random, { busyMs, restMs });
      const lost = problem.kind === "NotFound" && failures === 2 && members.size > 0;
      if (lost) members.clear(read);
      if (lost || before?.kind !== problem.kind || before.status !== problem.status) {
        news = "all";
        log?.warn({ collection: source.key, problem: problem.message }, "list failed");
      }
    } finally {
      listing = false;
      endedAt = clock.monotonic();
    }
    if (news) tell(news);
    schedule();
  };

  schedule();
  return {
    key: source.key,
    read: (id) => ({
      item: members.item(id),
      asOf: members.asOf(id),
      request: flux.request(id),
    }),
    members: () => members.items(),
    isLeaving: (id) => flux.isLeaving(id),
    get listedAt() {
      return members.listedAt;
    },
    get problem() {
      return problem;
    },
    get changing() {
      return flux.size;
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
    track(id, change) {
      if (!flux.track(id, change)) return;
      changedAt = clock.monotonic();
      schedule();
    },
    expect(id) {
      if (expected.has(id) || members.item(id)) return;
      expected.set(id, clock.monotonic());
      schedule();
    },
    untrack(id) {
      flux.untrack(id);
      expected.delete(id);
      schedule();
    },
    refresh(ids) {
      asking.add();
      for (const id of ids) askers.add(id);
      schedule();
    },
    ask: (id) => flux.ask(id),
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

/** A source that throws anything else is broken, but a collection stays alive. */
function unexpected(error: unknown, key: string): PlatformError {
  const detail = error instanceof Error ? error.message : String(error);
  return new Retry({ call: `GET ${key}`, status: 0, detail, cause: error }, "no");
}
