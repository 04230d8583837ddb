import type { Clock } from "../../runtime/clock.ts";

/**
 * A token bucket that starts at a moderate rate and learns. While requests wait for their turn, every answer that did not take
 * longer than usual raises the rate by one: it doubles within a second, up to the allowed maximum. When none wait, the rate
 * decays to the first one. A slow platform gets no higher rate. A 429 halves the rate and stops all requests for the
 * Retry-After (or for a backoff that doubles with each refusal); 429s of requests that were already in flight do not count
 * again. After that the rate grows by a fixed amount per second, so that it reaches the refused rate after half a minute, and
 * above it by a tenth of that, until ten minutes have passed without a 429.
 */
export interface LearnedRate {
  /** Requests per second, at the last `catchUp`. */
  readonly perSecond: number;
  /** Whether requests are stopped after a 429. */
  readonly isClosed: boolean;
  readonly hasToken: boolean;
  /** How long the next request must wait, for its token and for the end of the stop. */
  readonly waitMs: number;
  /** Updates rate and tokens to now; nothing grows while requests are stopped. */
  catchUp(): void;
  takeToken(): void;
  /** When to retry, if a request at this place of the line gets its turn after `until`; an estimate. */
  retryIfLate(place: number, until: number): number | undefined;
  /** A request that was sent at `sentAt` has its answer, not a 429. */
  answered(sentAt: number): void;
  /** A request that was sent at `sentAt` was answered with a 429. */
  refused(sentAt: number, afterMs: number | undefined): void;
}

export interface LearnedRateOptions {
  clock: Clock;
  random: () => number;
  first: number;
  /** The current maximum. */
  most(): number;
  /** The size of the bucket at the first rate. It shrinks with the rate. */
  burst: number;
  /** Whether requests wait for a token or for others to be answered. */
  isHeldUp(): boolean;
}

const slowest = 0.5;
/** The pause after the first 429 without a Retry-After. */
export const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
/** The time in which the rate would grow by the whole refused rate. It was halved, so it is back after half of this time. */
const recoverySeconds = 60;
/** How long a refused rate is remembered. */
const rememberMs = 600_000;
/** An unused rate halves in this time. */
const sinkSeconds = 30;
/** Differences between answers faster than this are noise. */
const shortestMs = 10;
/** The fastest answer time doubles in this time, so that old values expire. */
const forgetMs = 300_000;
/** The part of the growth after a 429 that remains above the refused rate. */
const cautious = 0.1;

export function createLearnedRate({ clock, random, first, most, burst, isHeldUp }: LearnedRateOptions): LearnedRate {
  let rate = Math.min(first, most());
  /** By how much the rate grows per second after a 429. */
  let growth = 0;
  /** The last refused rate, and when. */
  let refused: { rate: number; at: number } | undefined;
  /** The fastest answer time. */
  let fastest = { ms: Number.POSITIVE_INFINITY, at: 0 };
  let tokens = burst;
  let countedAt = clock.monotonic();
  let closedUntil = Number.NEGATIVE_INFINITY;
  let refusals = 0;

  const rateAfter = (seconds: number): number => {
    if (rate < first) return Math.min(first, rate + seconds * growth);
    return isHeldUp() ? rate : Math.max(first, rate * 0.5 ** (seconds / sinkSeconds));
  };
  const catchUp = () => {
    const now = clock.monotonic();
    const seconds = Math.max(0, now - Math.max(countedAt, closedUntil)) / 1000;
    countedAt = now;
    tokens = Math.min(tokens + seconds * rate, Math.max(1, burst * Math.min(1, rate / first)));
    rate = Math.min(most(), rateAfter(seconds));
    if (refused && now - refused.at > rememberMs) refused = undefined;
  };

  return {
    get perSecond() {
      return rate;
    },
    get isClosed() {
      return clock.monotonic() < closedUntil;
    },
    get hasToken() {
      return tokens >= 1;
    },
    get waitMs() {
      return Math.max(closedUntil - clock.monotonic(), tokens >= 1 ? 0 : ((1 - tokens) / rate) * 1000);
    },
    catchUp,
    takeToken() {
      tokens -= 1;
    },
    retryIfLate(place, until) {
      const now = clock.monotonic();
      const closedMs = Math.max(0, closedUntil - now);
      const wait = closedMs + Math.max(0, ((place - tokens) / rate) * 1000);
      return wait > 0 && now + wait > until ? closedMs || wait : undefined;
    },
    answered(sentAt) {
      if (sentAt < closedUntil) return;
      refusals = 0;
      const now = clock.monotonic();
      const tookMs = now - sentAt;
      const ms = Math.min(fastest.ms * 2 ** ((now - fastest.at) / forgetMs), Math.max(tookMs, shortestMs));
      fastest = { ms, at: now };
      if (!isHeldUp() || tookMs > 2 * ms || rate < first) return;
      const more = refused ? (growth / rate) * (rate >= refused.rate ? cautious : 1) : 1;
      rate = Math.min(most(), rate + more);
    },
    refused(sentAt, afterMs) {
      const now = clock.monotonic();
      // A 429 of a request that was in flight when the pause began is not a new refusal.
      const isCounted = sentAt < closedUntil;
      if (!isCounted) {
        catchUp();
        refusals += 1;
        // Even a very low rate recovers within minutes after the last 429.
        growth = Math.max(rate, first / 8) / recoverySeconds;
        refused = { rate, at: now };
        rate = Math.max(Math.min(slowest, first), rate / 2);
      }
      tokens = Math.min(tokens, 0);
      const backoff = Math.min(longestPauseMs, firstPauseMs * 2 ** (refusals - 1));
      // Jitter, so that several operators behind one limit do not retry at the same time.
      const pause = (afterMs ?? backoff) * (1 + 0.1 * random());
      if (!isCounted || afterMs !== undefined) closedUntil = Math.max(closedUntil, now + pause);
    },
  };
}
