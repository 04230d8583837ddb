import { NOTABLE_SKEW_MS, skewText } from "../../platform/calls/platform-time.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Obstacle } from "../status/reasons.ts";

/**
 * How tokens follow one another: those of AccessTokens, which are kept in status and a Secret, and those of Accounts, which are
 * kept in a Secret of the operator. Never more than two work at a time.
 */

/** The state of an object's tokens, as it is on record. */
export interface Tokens {
  /** A creation has no answer yet. */
  isOpen?: boolean;
  /** The previous token, which works until workloads have the new one. */
  previous: { isOver: boolean } | undefined;
  /** The token is to be renewed, or none works. */
  isDue: boolean;
}

export function nextStep({ isOpen = false, previous, isDue }: Tokens): "recover" | "revoke" | "make" | "rest" {
  if (isOpen) return "recover";
  if (previous && (isDue || previous.isOver)) return "revoke";
  return isDue ? "make" : "rest";
}

/** The last token that this process made for an object, and how many it made in short succession before. */
export interface Succession {
  at: number;
  times: number;
  /** The pause before the next one. */
  pauseMs: number;
}

/**
 * The succession with the token that was just made. Usually a token is renewed after two thirds of its life. If the next one
 * follows within a third, something is wrong with clocks or tokens: then the pause doubles.
 */
export function nextSuccession(
  { clock, settings }: { clock: Pick<Clock, "monotonic">; settings: { retryMs: number } },
  before: Succession | undefined,
  lifeMs: number | undefined,
): Succession | undefined {
  if (lifeMs === undefined) return undefined;
  const now = clock.monotonic();
  const isSoon = before !== undefined && now - before.at < lifeMs / 3;
  const times = isSoon ? before.times + 1 : 0;
  return { at: now, times, pauseMs: Math.min(settings.retryMs * 2 ** Math.min(times, 5), lifeMs / 3) };
}

export const pauseLeft = (last: Succession | undefined, now: number): number =>
  last ? Math.max(0, last.at + last.pauseMs - now) : 0;

/** How much longer a token has to live than the platform's clock is behind. */
const MARGIN_MS = 600_000;

/** Why a short-lived token is not created: if the platform's clock is behind, it has expired by the operator's clock. */
export function tooBrief(field: string, lifeMs: number | undefined, aheadMs: number): Obstacle | undefined {
  const behindMs = -aheadMs;
  if (lifeMs === undefined || behindMs < NOTABLE_SKEW_MS || lifeMs > behindMs + MARGIN_MS) return undefined;
  const message = `${field}: a token of ${lifeMs / 3_600_000} h is not created, because ${skewText(aheadMs)}: correct the clock of the operator's node, or choose a longer one`;
  return { reason: "InvalidSpec", message };
}
