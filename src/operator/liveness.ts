import type { Queue } from "../kube/queue/queue.ts";
import { PASS_MS } from "../kube/queue/work.ts";
import type { Clock } from "../runtime/clock.ts";

/** So long the workers may make no progress while objects wait. */
const STILL_MS = 2 * PASS_MS;
/** A pass is ended at its deadline, whatever it waits for: one that has gone on for so long was not. */
const STUCK_MS = 3 * PASS_MS;

/** Tells whether the workers get anything done: a process that does not is better started again. */
export interface Liveness {
  /** The workers begin; before that, and for who stands by, there is nothing to be done. */
  begin(): void;
  /** A worker has made progress: a pass has ended by itself, or a call of one was answered or failed. */
  beat(): void;
  /** What is wrong; undefined when nothing is. */
  problem(): string | undefined;
}

export function createLiveness({ monotonic }: Clock, queue: () => Pick<Queue, "inWork" | "depth">): Liveness {
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
      if (longest >= STUCK_MS) return `one reconcile has been running for ${Math.round(longest / 1000)} s`;
      const still = monotonic() - last;
      if (depth === 0 || still < STILL_MS) return undefined;
      return `${depth} objects are waiting, and no worker has made progress for ${Math.round(still / 1000)} s`;
    },
  };
}
