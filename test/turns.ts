import type { Clock } from "../src/clock.ts";

/** A clock that only work moves: it tells how long something took without a look at the machine's own. */
export function busyClock(): Clock & { spend(ms: number): void } {
  let time = 0;
  return {
    now: () => Date.UTC(2026, 0, 1) + time,
    monotonic: () => time,
    after: () => () => {},
    spend(ms) {
      time += ms;
    },
  };
}

/** Counts what happens between two turns of the event loop. */
export function turnsOf() {
  let [most, since, total] = [0, 0, 0];
  let waiting = false;
  return {
    count() {
      total += 1;
      since += 1;
      most = Math.max(most, since);
      if (waiting) return;
      waiting = true;
      setImmediate(() => {
        waiting = false;
        since = 0;
      });
    },
    /** The most that happened without a turn. */
    most: () => most,
    total: () => total,
  };
}
