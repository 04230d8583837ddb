import { NOTABLE_SKEW_MS } from "../calls/platform-time.ts";
import { entryOf } from "./entry.ts";
import type { ActivityLog } from "./export.ts";
import { RETENTION_MS } from "./read.ts";

/** What is known of the time. */
export interface KnownTime {
  /** Both clocks have reached it. */
  reached: number;
  /** The platform's, by its Date headers alone. */
  told: number;
}

/**
 * The time up to which a log can be read, when the next part of it is due then. Beyond what both clocks have reached, an entry of
 * the log itself has to prove it: an empty time that is not over would be skipped for ever.
 */
export async function provenTime({ page }: Pick<ActivityLog, "page">, due: number, { reached, told }: KnownTime) {
  if (due <= reached || due > told || told - reached <= NOTABLE_SKEW_MS) return reached;
  const to = Math.min(told, due + RETENTION_MS);
  const { sources } = await page({ from: due, to }, 0, 1);
  const isProven = sources.some((source) => (entryOf(source)?.time ?? 0) >= due);
  return isProven ? due : reached;
}
