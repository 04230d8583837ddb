import type { MachineTime } from "../time.ts";
import type { Caller } from "./exchange.ts";

/** Counts the calls that arrive, for tests and demos that limit their number. */
export interface CallCounter {
  /** `caller` undefined: no valid credentials. */
  count(route: string, caller: Caller | undefined): void;
  report(): {
    total: number;
    byRoute: Record<string, number>;
    highestRatePerSecond: number;
    /** null for both: the call had no valid credentials. */
    byCaller: {
      contractNumber: number | null;
      username: string | null;
      total: number;
      byRoute: Record<string, number>;
    }[];
  };
  reset(): void;
}

export function createCallCounter(machine: MachineTime): CallCounter {
  let byRoute = new Map<string, number>();
  let byCaller = new Map<
    string,
    { contractNumber: number | null; username: string | null; routes: Map<string, number> }
  >();
  let total = 0;
  let highest = 0;
  /** Instants of the calls within the last second; `first` moves instead of shifting the array. */
  let recent: number[] = [];
  let first = 0;
  return {
    count(route, caller) {
      total += 1;
      add(byRoute, route);
      const { contractNumber = null, user: { username = null } = {} } = caller ?? {};
      const name = JSON.stringify([contractNumber, username]);
      const row = byCaller.get(name) ?? { contractNumber, username, routes: new Map<string, number>() };
      byCaller.set(name, row);
      add(row.routes, route);
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
      byRoute: sorted(byRoute),
      highestRatePerSecond: highest,
      byCaller: [...byCaller.values()].map(({ routes, ...caller }) => ({
        ...caller,
        total: [...routes.values()].reduce((sum, count) => sum + count, 0),
        byRoute: sorted(routes),
      })),
    }),
    reset() {
      byRoute = new Map();
      byCaller = new Map();
      total = 0;
      highest = 0;
      recent = [];
      first = 0;
    },
  };
}

const add = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);

const sorted = (counts: Map<string, number>) => Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
