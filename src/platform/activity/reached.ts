import { NOTABLE_SKEW_MS } from "../calls/platform-time.ts";
import { entryOf } from "./entry.ts";
import type { ActivityLog } from "./export.ts";
import { RETENTION_MS } from "./read.ts";

/** The known facts about the time. */
export interface KnownTime {
  /** The time that both clocks have reached, ours and the platform's. */
  reached: number;
  /** The platform's time, by its Date headers alone. */
  estimated: number;
}

/**
 * The time up to which a log can be read; its next part ends at `due`. If only the platform's clock has reached `due`, that clock
 * may be wrong, so an entry of the log itself has to prove it. Otherwise a period that is not over, and still empty, would be
 * skipped for ever.
 */
export async function provenTime({ page }: Pick<ActivityLog, "page">, due: number, { reached, estimated }: KnownTime) {
  if (due <= reached || due > estimated || estimated - reached <= NOTABLE_SKEW_MS) return reached;
  const to = Math.min(estimated, due + RETENTION_MS);
  const { sources } = await page({ from: due, to }, 0, 1);
  const isProven = sources.some((source) => (entryOf(source)?.time ?? 0) >= due);
  return isProven ? due : reached;
}
