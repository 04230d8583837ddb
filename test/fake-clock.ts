import type { Clock } from "../src/runtime/clock.ts";

/**
 * A clock that stands still until `advance` moves it. Due timers fire in order, with pending promises settled in
 * between.
 */
export interface FakeClock extends Clock {
  advance(ms: number): Promise<void>;
  /** Simulates work: time passes, and no timer fires meanwhile. */
  spend(ms: number): void;
  /** Number of pending timers. */
  readonly pending: number;
}

export function fakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  let time = 0;
  let serial = 0;
  const timers = new Map<number, { at: number; fire: () => void }>();
  const settle = async () => {
    for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
  };
  return {
    now: () => start + time,
    monotonic: () => time,
    after(ms, fire) {
      const id = serial++;
      timers.set(id, { at: time + Math.max(0, ms), fire });
      return () => timers.delete(id);
    },
    get pending() {
      return timers.size;
    },
    spend(ms) {
      time += ms;
    },
    async advance(ms) {
      const end = time + ms;
      await settle();
      for (;;) {
        const due = [...timers].filter(([, t]) => t.at <= end).sort(([a, x], [b, y]) => x.at - y.at || a - b)[0];
        if (!due) break;
        timers.delete(due[0]);
        time = Math.max(time, due[1].at);
        due[1].fire();
        await settle();
      }
      time = Math.max(time, end);
      await settle();
    },
  };
}
