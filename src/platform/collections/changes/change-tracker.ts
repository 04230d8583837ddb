import { createArrivalCount, createBatchWindow } from "../batch-window.ts";
import { sharedGap } from "../poll-intervals.ts";
import { sameJson } from "../same-json.ts";
import { createListEvaluation } from "./list-evaluation.ts";
import { createStartedReads } from "./started-reads.ts";
import {
  type ChangeTracker,
  type ChangeTrackerOptions,
  expectsAbsence,
  hasRequest,
  type SinglyRead,
} from "./tracked.ts";
import { createTrackedMembers } from "./tracked-members.ts";

/** Reading one member until it is at rest costs as much as a list of this many members. */
const readCost = 50;
/** An owner waits longer for a list than for a read: while changes follow each other, a list must save this many times its cost. */
const leastSaving = 2;
/** For each change, this many members may be listed per poll interval. */
const membersPerChange = 16;
/** A notified owner is reconciled when its key has its turn, which takes a while with thousands of objects. */
const notifyAgainMs = 60_000;

export function createChangeTracker(options: ChangeTrackerOptions): ChangeTracker {
  const { clock, busyMs, source, members } = options;
  const tracked = createTrackedMembers(options);
  const reads = createStartedReads(options, tracked);
  const lists = createListEvaluation(options, tracked, reads);
  const longest = () => sharedGap(members.size, busyMs);
  /** Changes that no list can have shown yet. */
  const window = createBatchWindow(clock, busyMs, longest);
  const arrivals = createArrivalCount(clock, longest);
  const { all, waiting } = tracked;
  const readable = (which: SinglyRead | undefined) =>
    which === undefined
      ? []
      : [...waiting].filter(([, entry]) => !entry.isReading && (which === "all" || hasRequest(entry, source)));
  return {
    get size() {
      return all.size;
    },
    get worthListing() {
      if (waiting.size === 0) return undefined;
      return window.dueAt ?? Number.NEGATIVE_INFINITY;
    },
    get oneByOne() {
      if (waiting.size === 0 || waiting.size * readCost >= members.size) return false;
      if (arrivals.size * readCost >= leastSaving * members.size) return false;
      return waiting.values().every((entry) => hasRequest(entry, source) || source.get !== undefined);
    },
    get isVanishing() {
      return lists.isVanishing && window.dueAt === undefined;
    },
    get listGap() {
      const shares = members.size / (waiting.size * membersPerChange);
      return Math.min(busyMs * Math.max(shares, 1), longest());
    },
    readDueAt: (which) => Math.min(...readable(which).map(([, { readDueAt }]) => readDueAt)),
    get usualRead() {
      return tracked.usualRead;
    },
    get notifyAgain() {
      const since = tracked.notifiedSince;
      return since === undefined ? undefined : since + notifyAgainMs;
    },
    has: (id) => all.has(id),
    isLeaving: (id) => all.get(id)?.change.leaving === true,
    track(id, change) {
      const known = all.get(id);
      if (known && sameJson(known.change, change)) return false;
      window.add();
      arrivals.add();
      tracked.add(id, change);
      return true;
    },
    untrack: tracked.delete,
    request: (id) => all.get(id)?.request,
    expectsAbsence: (id) => expectsAbsence(all.get(id)),
    startDueReads(which) {
      const now = clock.monotonic();
      for (const [id, entry] of readable(which)) if (entry.readDueAt <= now) reads.start(id, entry);
    },
    ask(id) {
      const entry = all.get(id);
      if (entry === undefined) return;
      entry.asked = true;
      if (!entry.isReading) reads.start(id, entry);
    },
    beforeList: window.clear,
    afterList: lists.afterList,
  };
}
