import type { Clock } from "../../runtime/clock.ts";

/** The outcome of a call for the endpoint's health; "unknown" when the call was aborted for other reasons. */
export type Outcome = { is: "answered" } | { is: "silent"; why: string } | { is: "unknown" };

/** The endpoint does not answer: retry after `afterMs`. */
export interface Refusal {
  readonly afterMs: number;
  /** The reason of the last failed call. */
  readonly why: string;
}

/**
 * A circuit breaker for an endpoint that does not answer, so that not every call waits until its deadline. After a few
 * unanswered calls in a row, calls are rejected for a pause. Then one call may try; if it gets no answer either, the pause
 * doubles. Any answer closes the breaker.
 */
export interface Breaker {
  /** Returns a refusal, or a function to call once with the outcome. */
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
    // Jitter, so that the endpoints of many Accounts are not tried at the same time.
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
