import type { Clock } from "./clock.ts";

/** A map that drops entries: each time one is set, those that were set more than `keptMs` before. `at` is when that was. */
export function createRecentMap<V extends object>({ monotonic }: Pick<Clock, "monotonic">, keptMs: number) {
  const entries = new Map<string, V & { at: number }>();
  return {
    get: (key: string) => entries.get(key),
    delete: (key: string) => entries.delete(key),
    set(key: string, value: V): void {
      const now = monotonic();
      for (const [each, { at }] of entries) if (now - at > keptMs) entries.delete(each);
      entries.set(key, { ...value, at: now });
    },
  };
}
