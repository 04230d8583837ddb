import type { MachineTime } from "../time.ts";

/** Counts the calls that arrive, for tests and demos that promise how few they make. */
export interface CallCounter {
  count(route: string): void;
  report(): { total: number; byRoute: Record<string, number>; highestRatePerSecond: number };
  reset(): void;
}

export function createCallCounter(machine: MachineTime): CallCounter {
  let byRoute = new Map<string, number>();
  let total = 0;
  let highest = 0;
  /** Instants of the calls within the last second; `first` moves instead of shifting the array. */
  let recent: number[] = [];
  let first = 0;
  return {
    count(route) {
      total += 1;
      byRoute.set(route, (byRoute.get(route) ?? 0) + 1);
      const now = machine.monotonic();
      recent.push(now);
      while ((recent[first] ?? now) <= now - 1000) first += 1;
      highest = Math.max(highest, recent.length - first);
      if (first > 10_000) {
        recent = recent.slice(first);
        first = 0;
      }
    },
    report: () => ({
      total,
      byRoute: Object.fromEntries([...byRoute].sort(([a], [b]) => (a < b ? -1 : 1))),
      highestRatePerSecond: highest,
    }),
    reset() {
      byRoute = new Map();
      total = 0;
      highest = 0;
      recent = [];
      first = 0;
    },
  };
}
