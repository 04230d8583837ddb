import { pollGap } from "../poll-intervals.ts";

/** The input for the schedule of the next list. Times are on the monotonic clock. */
export interface ListState {
  /** When the last list ended, and how long to wait after it if nothing happens. */
  endedAt: number;
  waitMs: number;
  /** Failed lists in a row, and the last failure: `partial` lists do not show all members. */
  failures: number;
  problem: "partial" | "temporary" | "lasting" | undefined;
  /** Since when a list is requested, and when the batch of requests is due. */
  refresh: { since: number; dueAt: number } | undefined;
  /** The last single reads, in place of a list that is too large. */
  singleReads: { endedAt: number; failures: number };
  /** A list missed members that were seen before, or that are being deleted. */
  isDoubtful: boolean;
  /** When the most recently expected member, which no list has shown, was first expected. */
  expectedSince: number | undefined;
  changedAt: number;
  /** The earliest time for a list of changing members; undefined when none is needed. */
  changesFrom: number | undefined;
  changesGap: number;
  /** When the usual durations of the changing members call for a list; undefined when they are unknown. */
  usualRead: number | undefined;
  /** When owners are to be notified again. */
  notifyAgain: number | undefined;
  othersBusy: boolean;
  /** The number of members, and the longest that a request for a list waits to be batched with others. */
  size: number;
  longest: number;
  busyMs: number;
  restMs: number;
}

/** The minimum time between a list and a requested one: the more members, the longer. */
export const soonMs = { shortest: 500, perMember: 6 };
const othersBusyGapMs = { shortest: 5_000, longest: 60_000 };

/** The earliest time for a requested list, with backoff after failures. */
function soon({ endedAt, failures, size, longest }: ListState): number {
  const gap = Math.max(soonMs.shortest, Math.min(size * soonMs.perMember, longest));
  return endedAt + gap * 2 ** Math.min(failures, 7);
}

const quiet = ({ endedAt, changedAt }: ListState): number => Math.max(0, endedAt - changedAt);

/** When a list is due, by rule; undefined where the rule does not apply. The earliest counts. */
const rules = {
  /** At rest. */
  resync: ({ endedAt, waitMs }) => endedAt + waitMs,
  /** A list is requested. After a quiet time it starts at once; requests that follow each other share one list. */
  refresh(state) {
    const { refresh, endedAt, longest } = state;
    if (!refresh) return undefined;
    return refresh.since - endedAt >= longest ? soon(state) : Math.max(soon(state), refresh.dueAt);
  },
  /** A second list confirms that a member is absent. */
  doubt: (state) => (state.isDoubtful ? soon(state) : undefined),
  /** A member is expected and not seen: less and less often. */
  expected: ({ expectedSince, endedAt, busyMs, restMs }) =>
    expectedSince === undefined ? undefined : endedAt + pollGap(endedAt - expectedSince, busyMs, restMs),
  /**
   * Members are changing: when they usually end or, if that is unknown, often while something happens, and less and less often
   * while nothing does.
   */
  changes(state) {
    const { changesFrom, usualRead, endedAt, changesGap } = state;
    if (changesFrom === undefined) return undefined;
    return usualRead ?? Math.max(endedAt + pollGap(quiet(state), changesGap), changesFrom);
  },
  /** Owners were notified that their members are at rest, and have not read them. */
  notifyAgain: ({ notifyAgain }) => notifyAgain,
  /** Members that are not tracked are changing. */
  othersBusy: (state) =>
    state.othersBusy
      ? state.endedAt + pollGap(quiet(state), othersBusyGapMs.shortest, othersBusyGapMs.longest)
      : undefined,
} satisfies Record<string, (state: ListState) => number | undefined>;

/**
 * When the next list is due. While lists fail, only a request gets one before the backoff is over, and none if the failure is
 * temporary.
 */
export function listDue(state: ListState): number {
  const { problem, refresh, singleReads } = state;
  if (problem === undefined) return Math.min(...Object.values(rules).map((rule) => rule(state) ?? Infinity));
  const rested = rules.resync(state);
  if (!refresh || problem === "temporary") return rested;
  const readDue = singleReads.endedAt + soonMs.shortest * 2 ** Math.min(singleReads.failures, 7);
  return Math.min(rested, problem === "partial" ? readDue : soon(state));
}
