import { PlatformError, Retry } from "../../answers/errors.ts";
import { exceedsLimit } from "../../answers/limits.ts";
import { restGap, retryGap } from "../poll-intervals.ts";
import { PartialList } from "../reading.ts";

/** The last list of a collection, apart from its items. */
export interface LastList {
  /** A list, or single reads in place of one, are in progress. */
  isRunning: boolean;
  /** When it ended, and how long to wait after it if nothing happens. */
  endedAt: number;
  waitMs: number;
  /** Its error, and the number of errors of this kind in a row. */
  problem: PlatformError | undefined;
  failures: number;
  /** It missed members that were seen before. */
  isDoubtful: boolean;
  /** It showed members that others are changing. */
  othersBusy: boolean;
}

export const noList = (): LastList => ({
  isRunning: false,
  endedAt: Number.NEGATIVE_INFINITY,
  waitMs: 0,
  problem: undefined,
  failures: 0,
  isDoubtful: false,
  othersBusy: false,
});

/** The list exceeds a limit. */
export const isTooLarge = ({ problem }: LastList): boolean => problem !== undefined && exceedsLimit(problem);

/** The list does not show all members. */
export const isPartial = (last: LastList): boolean => isTooLarge(last) || last.problem instanceof PartialList;

/** The parent of the collection is not found. */
export const isGone = ({ problem }: LastList): boolean => problem?.kind === "NotFound";

interface Intervals {
  busyMs: number;
  restMs: number;
  random: () => number;
}

export function succeed(last: LastList, { restMs, random }: Intervals): void {
  last.problem = undefined;
  last.failures = 0;
  last.waitMs = restGap(restMs, random);
}

/** Returns the problem. `key` names the collection. */
export function fail(last: LastList, error: unknown, key: string, intervals: Intervals): PlatformError {
  const problem = error instanceof PlatformError ? error : unexpected(error, key);
  last.failures = last.problem?.kind === problem.kind ? last.failures + 1 : 1;
  last.problem = problem;
  const { restMs, random } = intervals;
  last.waitMs = isPartial(last) ? restGap(restMs, random) : retryGap(problem, last.failures, random, intervals);
  return problem;
}

/** Wraps any other error of a source, so that the collection continues. */
function unexpected(error: unknown, key: string): PlatformError {
  const detail = error instanceof Error ? error.message : String(error);
  return new Retry({ call: `GET ${key}`, status: 0, detail, cause: error }, "no");
}
