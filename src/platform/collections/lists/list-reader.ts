import { yieldIfDue } from "../../../runtime/time-slices.ts";
import type { PlatformError } from "../../answers/errors.ts";
import { limits } from "../../answers/limits.ts";
import type { Log } from "../../calls/call.ts";
import type { ChangeTracker, CollectionReads } from "../changes/tracked.ts";
import type { Listed, ReadStart } from "../members.ts";
import { type Item, PartialList } from "../reading.ts";
import { fail, type LastList, succeed } from "./last-list.ts";
import type { OwnerRequests } from "./owner-requests.ts";

/** The ids whose owners are notified; undefined if none. */
type News = ReadonlySet<string> | "all" | undefined;

export interface ListOptions extends CollectionReads {
  changes: ChangeTracker;
  requests: OwnerRequests;
  log: Log | undefined;
  /** The cached state of a member has changed. */
  changed(): void;
  /** A list, or single reads in place of one, have ended. */
  ended(news: News): void;
}

/** Returns the function that reads one list, applies it to the members, and records its outcome in `last`. */
export function createListReader(options: ListOptions, last: LastList): () => Promise<void> {
  const { clock, source, members, changes, requests, signal, log } = options;

  /** Evaluates a complete list. Returns the ids whose owners are notified. */
  const evaluate = (began: number, items: readonly Item[], listed: Listed): Set<string> => {
    last.isDoubtful = listed.doubted.values().some((id) => !changes.isLeaving(id));
    requests.unexpectKnown();
    last.othersBusy = items.some((item) => source.isBusy(item) && !changes.has(item.id));
    if (listed.changed.size > 0) options.changed();
    const rested = changes.afterList(began, listed);
    // The owner of a tracked member knows that it is busy, and is notified when its deletion has ended.
    const isNews = (id: string) => {
      const item = changes.has(id) && !listed.appeared.has(id) ? members.item(id) : undefined;
      return item ? !source.isBusy(item) : !changes.isLeaving(id);
    };
    return new Set([...[...listed.changed].filter(isNews), ...rested]);
  };

  /** Evaluates a failure after the one before. True when it concerns all owners. */
  const evaluateFailure = (read: ReadStart, problem: PlatformError, before: PlatformError | undefined): boolean => {
    const isParentGone = problem.kind === "NotFound" && last.failures === 2 && members.size > 0;
    if (isParentGone) members.clear(read);
    if (!isParentGone && before?.kind === problem.kind && before.status === problem.status) return false;
    log?.warn({ collection: source.key, problem: problem.message }, "list failed");
    return true;
  };

  return async () => {
    last.isRunning = true;
    const { isRefresh, toNotify } = requests.serve();
    const isResting = changes.size === 0 && !isRefresh && !last.isDoubtful && members.listedAt !== undefined;
    changes.beforeList();
    const read = members.beginRead(clock.monotonic());
    const began = clock.monotonic();
    let news: News;
    try {
      const items = await source.list(signal, isResting ? "background" : "normal");
      if (signal.aborted) return;
      const isFirst = members.listedAt === undefined;
      const listed = await members.list(read, items, changes.expectsAbsence, () => yieldIfDue(clock));
      if (signal.aborted) return;
      const some = evaluate(began, items, listed);
      for (const id of toNotify) some.add(id);
      news = isFirst || last.problem ? "all" : some.size > 0 || isRefresh ? some : undefined;
      succeed(last, options);
    } catch (error) {
      if (signal.aborted) return;
      const before = last.problem;
      const problem = fail(last, error, source.key, options);
      if (problem instanceof PartialList) {
        const some = new Set([...(await applyPartial(read, problem.items, options)), ...toNotify]);
        if (some.size > 0 || isRefresh) news = some;
      }
      if (signal.aborted) return;
      if (evaluateFailure(read, problem, before)) news = "all";
    } finally {
      last.isRunning = false;
      last.endedAt = clock.monotonic();
    }
    options.ended(news);
  };
}

/** Applies what a list with invalid items shows: presence only. Returns the ids whose state has changed. */
async function applyPartial(read: ReadStart, items: readonly Item[], options: ListOptions): Promise<Set<string>> {
  const { clock, members, requests } = options;
  const changed = new Set<string>();
  for (const item of items) {
    const isKnown = members.item(item.id) !== undefined;
    // No absence is seen, so the number of members would have no limit.
    if (!isKnown && members.size >= limits.items) continue;
    if (members.one(read, item.id, item, false)) changed.add(item.id);
    requests.unexpect(item.id);
    const wait = yieldIfDue(clock);
    if (wait) await wait;
  }
  if (changed.size > 0) options.changed();
  return changed;
}
