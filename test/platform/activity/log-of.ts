import type { ActivityLog } from "../../../src/platform/activity/export.ts";
import type { ActivitySource } from "../../../src/platform/activity/log.ts";
import { fakeClock } from "../../fake-clock.ts";

/** A log to which a test adds entries, and the calls that it has answered. */
export function logOf(entries: { at: number; what: string }[], pageSize = 1000) {
  const clock = fakeClock();
  let calls = 0;
  const log: ActivityLog = {
    clock,
    async page({ from, to }, offset, limit) {
      calls += 1;
      const inside = entries.filter(({ at }) => at >= from && at < to).sort((a, b) => a.at - b.at);
      const sources: ActivitySource[] = inside
        .slice(offset, offset + Math.min(limit, pageSize))
        .map(({ at, what }) => ({ time: new Date(at).toISOString(), action: what }));
      return { sources, total: inside.length };
    },
  };
  return { log, calls: () => calls };
}
