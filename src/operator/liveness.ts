import type { Queue } from "../kube/queue/queue.ts";
import { PASS_MS } from "../kube/queue/work.ts";
import type { Clock } from "../runtime/clock.ts";

/** The longest that workers may make no progress while keys wait. */
const STILL_MS = 2 * PASS_MS;
/** A reconcile ends at its deadline, whatever it waits for. One that runs this long is stuck. */
const STUCK_MS = 3 * PASS_MS;

/** Whether the workers make progress. A process whose workers do not is restarted by its liveness probe. */
export interface Liveness {
  /** The workers start. Before that, and in a standby process, there is no problem to report. */
  begin(): void;
  /** A worker made progress: a reconcile ended before its deadline, or one of its calls was answered or failed. */
  beat(): void;
  /** The problem; undefined when there is none. */
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
