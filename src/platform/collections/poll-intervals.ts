/** Poll intervals and backoffs: pure functions of the quiet time and of the failures in a row. */
import { type PlatformError, Retry } from "../answers/errors.ts";

const longestPollMs = 30_000;

/**
 * The poll interval of changing members: `shortest` while something happens, then a twelfth of the quiet time. So work of
 * seconds is followed closely (5 s after a quiet minute), and work of half an hour cheaply.
 */
export function pollGap(quietMs: number, shortest: number, longest = longestPollMs): number {
  return Math.min(Math.max(quietMs / 12, shortest), Math.max(shortest, longest));
}

/** The longest time between lists while owners wait for them: poll intervals, plus milliseconds per member. */
const longestShared = { polls: 4, perMember: 12 };

/** How long a request for a list may wait to be batched with others: the more members, the longer. */
export function sharedGap(members: number, busyMs: number): number {
  const gap = longestShared.polls * busyMs;
  return Math.max(gap, Math.min(gap + members * longestShared.perMember, longestPollMs));
}

/** The backoff after the n-th failure in a row: doubling, less up to half of it as jitter, never less than Retry-After. */
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

/** A missing parent may appear at any moment; credentials and rejections change when people act. */
function firstAndLongest(
  problem: PlatformError,
  { busyMs, restMs }: { busyMs: number; restMs: number },
): [number, number] {
  return problem.kind === "NotFound" ? [busyMs, Math.min(60_000, restMs)] : [15_000, restMs];
}

/** The resync interval with jitter, so that collections opened together do not list together. */
export function restGap(restMs: number, random: () => number): number {
  return restMs * (0.9 + 0.2 * random());
}
