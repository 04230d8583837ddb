import type { Clock } from "../../runtime/clock.ts";
import { createFairPool } from "./fair-pool.ts";

export interface FairQueueOptions {
  clock: Clock;
  /** The maximum number of concurrent calls of `work`. */
  slots: number;
  /** The maximum number of waiting callers. */
  waiting: number;
  /** The maximum time to wait. */
  mostWaitMs: number;
}

/**
 * Runs the work of owners, which take turns. When no more callers may wait, the last caller of the longest line is dropped for
 * one of a shorter line.
 */
export interface FairQueue {
  /** "busy": the caller was rejected, dropped, or waited too long. */
  run<T>(owner: string, work: () => Promise<T>): Promise<T | "busy">;
}

export function createFairQueue({ clock, slots, waiting, mostWaitMs }: FairQueueOptions): FairQueue {
  const running = createFairPool(slots);
  let places = waiting;
  /** Waiting callers by owner, in the order of their turns. */
  const lines = new Map<string, Set<(isTurn: boolean) => void>>();

  function leave(owner: string, settle: (isTurn: boolean) => void): void {
    places += 1;
    const line = lines.get(owner);
    line?.delete(settle);
    if (line?.size === 0) lines.delete(owner);
  }

  /** Whether the owner's caller may wait. Drops a caller of the longest line for it if needed. */
  function makePlace(owner: string): boolean {
    if (places > 0) return true;
    let longest = new Set<(isTurn: boolean) => void>();
    for (const line of lines.values()) if (line.size > longest.size) longest = line;
    if (longest.size <= (lines.get(owner)?.size ?? 0) + 1) return false;
    [...longest].at(-1)?.(false);
    return true;
  }

  function turnOf(owner: string): Promise<boolean> {
    if (!lines.has(owner) && running.take(owner)) return Promise.resolve(true);
    if (!makePlace(owner)) return Promise.resolve(false);
    places -= 1;
    return new Promise((resolve) => {
      const settle = (isTurn: boolean) => {
        cancel();
        leave(owner, settle);
        resolve(isTurn);
      };
      const cancel = clock.after(mostWaitMs, () => settle(false));
      lines.set(owner, (lines.get(owner) ?? new Set()).add(settle));
    });
  }

  function pump(): void {
    for (const [owner, line] of [...lines]) {
      const [next] = line;
      if (next === undefined || !running.take(owner)) continue;
      // Moves the owner to the end: the next turn is another owner's.
      lines.delete(owner);
      lines.set(owner, line);
      next(true);
    }
  }

  return {
    async run(owner, work) {
      if (!(await turnOf(owner))) return "busy";
      try {
        return await work();
      } finally {
        running.giveBack(owner);
        pump();
      }
    },
  };
}
