/** How long to wait: pure functions of how quiet it has been and how often something failed. */
import { type PlatformError, Retry } from "../answers/errors.ts";

const longestLookMs = 30_000;

/**
 * Between two looks at what is in flux: `shortest` while things happen, then a twelfth of the time in which nothing
 * did, so that work of seconds is followed closely (5 s after a quiet minute) and work of half an hour cheaply.
 */
export function lookGap(quietMs: number, shortest: number, longest = longestLookMs): number {
  return Math.min(Math.max(quietMs / 12, shortest), Math.max(shortest, longest));
}

/** So many poll intervals, and so many milliseconds for each member, are the longest that lists are apart while others wait for them. */
const longestGap = { polls: 4, perMember: 12 };

/** How long whoever waits for a list may be made to wait for others who will: the more there is to list, the longer. */
export function sharedGap(members: number, busyMs: number): number {
  const gap = longestGap.polls * busyMs;
  return Math.max(gap, Math.min(gap + members * longestGap.perMember, longestLookMs));
}

/** After the n-th failure in a row: doubling, with up to half of it taken off by chance, never less than was asked for. */
export function retryGap(
  problem: PlatformError,
  failures: number,
  random: () => number,
  limits: { busyMs: number; restMs: number },
): number {
  const [first, longest] = problem instanceof Retry ? [2_000, 60_000] : firstAndLongest(problem, limits);
  const doubled = Math.min(first * 2 ** (failures - 1), longest);
  const jittered = doubled * (1 - random() / 2);
  return Math.max(jittered, problem instanceof Retry ? (problem.afterMs ?? 0) : 0);
}

/** A parent that is not there may appear any moment; credentials and refusals change when people act. */
function firstAndLongest(
  problem: PlatformError,
  { busyMs, restMs }: { busyMs: number; restMs: number },
): [number, number] {
  return problem.kind === "NotFound" ? [busyMs, Math.min(60_000, restMs)] : [15_000, restMs];
}

/** The resting interval, spread so that collections opened together do not list together. */
export function restGap(restMs: number, random: () => number): number {
  return restMs * (0.9 + 0.2 * random());
}
