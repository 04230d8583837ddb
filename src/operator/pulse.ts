import type { Clock } from "../clock.ts";
import type { Queue } from "../kube/queue/queue.ts";

/** So long may one pass take, and the queue stand still: every call has a deadline far below it. */
const TOO_LONG_MS = 120_000;

/** Tells whether the workers get anything done: a process that does not is better started again. */
export interface Pulse {
  /** The workers begin; before that, and for who stands by, there is nothing to be done. */
  begin(): void;
  /** A pass has ended. */
  beat(): void;
  /** What is wrong; undefined when nothing is. */
  problem(): string | undefined;
}

export function createPulse({ monotonic }: Clock, queue: () => Pick<Queue, "inWork" | "depth">): Pulse {
  let last: number | undefined;
  return {
    begin() {
      last = monotonic();
    },
    beat() {
      if (last !== undefined) last = monotonic();
    },
    problem() {
      if (last === undefined) return undefined;
      const { depth, inWork } = queue();
      const longest = Math.max(0, ...inWork()) * 1000;
      if (longest >= TOO_LONG_MS) return `one reconcile has been running for ${Math.round(longest / 1000)} s`;
      const still = monotonic() - last;
      if (depth === 0 || still < TOO_LONG_MS) return undefined;
      return `${depth} objects are waiting, and no reconcile has finished for ${Math.round(still / 1000)} s`;
    },
  };
}
