import type { Listed } from "../members.ts";
import { needsReason, putOffReason } from "./reasons.ts";
import type { StartedReads } from "./started-reads.ts";
import { type CollectionReads, ended, hasRequest, isLeaving, miss, missingLists, type Tracked } from "./tracked.ts";
import type { TrackedMembers } from "./tracked-members.ts";

/** Evaluates lists: the state of the tracked members that they show. */
export interface ListEvaluation {
  /** The last list was the first to miss members that are deleted without a request. */
  readonly isVanishing: boolean;
  /** See `afterList` of `ChangeTracker`. */
  afterList(began: number, listed: Listed): string[];
}

const reasonsPerList = 8;
/** After this, a request that the shared call does not show is read alone. */
const askAloneMs = 30_000;

export function createListEvaluation(
  options: CollectionReads,
  tracked: TrackedMembers,
  reads: StartedReads,
): ListEvaluation {
  const { clock, source, members } = options;
  let isVanishing = false;

  /** How to find out that a deletion has ended when a list misses its member. */
  const checkOf = (entry: Tracked, missed: { at: number; lists: number }, now: number) => {
    if (!hasRequest(entry, source)) return missed.lists >= missingLists ? "read" : "one more list";
    return source.deletions && now - missed.at < askAloneMs ? "with others" : "alone";
  };

  return {
    get isVanishing() {
      return isVanishing;
    },
    afterList(began, listed) {
      const resting: string[] = [];
      const missing: [string, Tracked][] = [];
      const now = clock.monotonic();
      let reasons = 0;
      isVanishing = false;
      const readReason = (id: string, entry: Tracked) => {
        reasons += 1;
        putOffReason(entry, clock);
        reads.startRequest(id, entry);
      };
      for (const [id, entry] of tracked.all) {
        if (entry.trackedAt >= began) continue;
        const isMissed = listed.doubted.has(id);
        if (isLeaving(entry)) miss(entry, isMissed || members.item(id) === undefined, "lists", now);
        if (entry.missed && !ended(entry)) {
          if (entry.isReading) continue;
          const check = checkOf(entry, entry.missed, now);
          if (check === "read") reads.startRequest(id, entry);
          else if (check === "one more list") isVanishing = true;
          else if (check === "with others") missing.push([id, entry]);
          else if (reasons < reasonsPerList && now >= entry.nextReason) readReason(id, entry);
          continue;
        }
        if (tracked.settle(id, entry)) resting.push(id);
        const hasTurn = reasons < reasonsPerList && !entry.isReading;
        if (hasTurn && needsReason(id, entry, isMissed, options)) readReason(id, entry);
      }
      if (missing.length > 0) reads.startDeletions(missing);
      return resting;
    },
  };
}
