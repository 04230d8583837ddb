import { lookGap } from "./poll-intervals.ts";

/** What is known when the next list is planned. Times are on the monotonic clock. */
export interface ListState {
  /** When the last list ended, and how long to wait after it when nothing happens. */
  endedAt: number;
  patience: number;
  /** Failed lists in a row; what the last one failed with. */
  failures: number;
  problem: "tooLarge" | "passing" | "lasting" | undefined;
  /** Since when somebody waits for a list, and when all who do are to be served. */
  asked: { since: number; dueAt: number } | undefined;
  /** The last reads one by one, in place of a list that is too large. */
  singly: { endedAt: number; failures: number };
  /** A list left members in doubt, or missed some that are being deleted. */
  isDoubtful: boolean;
  /** Since when the youngest member is expected that no list has shown. */
  expectedSince: number | undefined;
  changedAt: number;
  /** The earliest time for a list that shows what is changing; undefined where none is needed. */
  changesFrom: number | undefined;
  changesGap: number;
  /** When owners are to be told once more. */
  tellAgain: number | undefined;
  othersBusy: boolean;
  /** How many members a list has, and the longest time that who asks is made to wait for others. */
  size: number;
  longest: number;
  busyMs: number;
  restMs: number;
}

/** Between a list and one that somebody waits for: the longer, the more there is to list. */
export const soonMs = { shortest: 500, perMember: 6 };
const othersBusyGapMs = { shortest: 5_000, longest: 60_000 };

/** The earliest list that somebody who asks can get. Failures put it off. */
function soon({ endedAt, failures, size, longest }: ListState): number {
  const gap = Math.max(soonMs.shortest, Math.min(size * soonMs.perMember, longest));
  return endedAt + gap * 2 ** Math.min(failures, 7);
}

const quiet = ({ endedAt, changedAt }: ListState): number => Math.max(0, endedAt - changedAt);

/** When a list is due, and why; undefined where the rule says nothing. The earliest counts. */
const rules = {
  /** At rest. */
  resync: ({ endedAt, patience }) => endedAt + patience,
  /** Somebody asks. The first who ask get it at once; of many who ask one after the other, all share one. */
  asked(state) {
    const { asked, endedAt, longest } = state;
    if (!asked) return undefined;
    return asked.since - endedAt >= longest ? soon(state) : Math.max(soon(state), asked.dueAt);
  },
  /** Absence of a member needs a second list. */
  doubt: (state) => (state.isDoubtful ? soon(state) : undefined),
  /** A member is said to be there and is not seen: ever less often. */
  expected: ({ expectedSince, endedAt, busyMs, restMs }) =>
    expectedSince === undefined ? undefined : endedAt + lookGap(endedAt - expectedSince, busyMs, restMs),
  /** Members are being changed: often while things happen, ever less often while nothing does. */
  changes: (state) =>
    state.changesFrom === undefined
      ? undefined
      : Math.max(state.endedAt + lookGap(quiet(state), state.changesGap), state.changesFrom),
  /** Owners were told that their members rest, and have not looked. */
  tellAgain: ({ tellAgain }) => tellAgain,
  /** Somebody else is changing members. */
  othersBusy: (state) =>
    state.othersBusy
      ? state.endedAt + lookGap(quiet(state), othersBusyGapMs.shortest, othersBusyGapMs.longest)
      : undefined,
} satisfies Record<string, (state: ListState) => number | undefined>;

/** When the next list is due. While lists fail, only who asks gets one before the pause is over, and not when waiting helps. */
export function listDue(state: ListState): number {
  const { problem, asked, singly } = state;
  if (problem === undefined) return Math.min(...Object.values(rules).map((rule) => rule(state) ?? Infinity));
  const rested = rules.resync(state);
  if (!asked || problem === "passing") return rested;
  const readDue = singly.endedAt + soonMs.shortest * 2 ** Math.min(singly.failures, 7);
  return Math.min(rested, problem === "tooLarge" ? readDue : soon(state));
}
