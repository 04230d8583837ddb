import type { Clock } from "../../runtime/clock.ts";

/** What became of a call, as far as it tells about the endpoint: "unknown" when it was given up for other reasons. */
export type Outcome = { is: "answered" } | { is: "silent"; why: string } | { is: "unknown" };

/** The endpoint has not answered lately: come back after so long. */
export interface Refusal {
  readonly afterMs: number;
  /** What the last call met. */
  readonly why: string;
}

/**
 * Keeps calls away from an endpoint that does not answer, so that each does not have to find out by itself until its
 * deadline. After a few silent calls in a row none leaves for a pause; then one may try, and the pause doubles while that
 * is in vain. Any answer lets all through again.
 */
export interface Breaker {
  /** To be told once what became of the call, unless it is refused. */
  enter(): Refusal | ((outcome: Outcome) => void);
}

type State =
  | { is: "closed"; silent: number }
  | { is: "open"; until: number; pauseMs: number; why: string }
  | { is: "trying"; pauseMs: number; why: string };

const mostSilent = 5;
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;

export function createBreaker({ clock, random = Math.random }: { clock: Clock; random?: () => number }): Breaker {
  let state: State = { is: "closed", silent: 0 };

  const open = (pauseMs: number, why: string) => {
    // Spread a little, so that the endpoints of many Accounts are not tried in step.
    state = { is: "open", until: clock.monotonic() + pauseMs * (1 + 0.1 * random()), pauseMs, why };
  };

  const settle = (outcome: Outcome, isTrial: boolean) => {
    if (outcome.is === "answered") state = { is: "closed", silent: 0 };
    else if (state.is === "closed" && outcome.is === "silent") {
      state = { is: "closed", silent: state.silent + 1 };
      if (state.silent >= mostSilent) open(firstPauseMs, outcome.why);
    } else if (state.is === "trying" && isTrial) {
      if (outcome.is === "silent") open(Math.min(state.pauseMs * 2, longestPauseMs), outcome.why);
      else state = { ...state, is: "open", until: clock.monotonic() };
    }
  };

  return {
    enter() {
      if (state.is === "closed") return (outcome) => settle(outcome, false);
      const { pauseMs, why } = state;
      if (state.is === "trying") return { afterMs: pauseMs, why };
      const afterMs = state.until - clock.monotonic();
      if (afterMs > 0) return { afterMs, why };
      state = { is: "trying", pauseMs, why };
      return (outcome) => settle(outcome, true);
    },
  };
}
