/** When to read the request of a change for the reason why its member is not at rest. */
import type { Clock } from "../../../runtime/clock.ts";
import { type CollectionReads, ended, firstReasonMs, hasRequest, isLeaving, type Tracked } from "./tracked.ts";

const longestReasonGapMs = 60_000;

const isFailed = (state: string | undefined): boolean => state?.startsWith("FAILED") ?? false;

/** Whether to read the request: the member failed, vanished, or should have appeared by now. */
export function needsReason(
  id: string,
  entry: Tracked,
  isMissed: boolean,
  { clock, source, members }: CollectionReads,
): boolean {
  if (ended(entry) || !hasRequest(entry, source) || isLeaving(entry)) return false;
  if (clock.monotonic() < entry.nextReason) return false;
  const item = members.item(id);
  if (item !== undefined) return isMissed || isFailed(item.state);
  return clock.monotonic() - entry.trackedAt >= firstReasonMs;
}

/** The request is read now, and after that less and less often. */
export function putOffReason(entry: Tracked, { monotonic }: Pick<Clock, "monotonic">): void {
  entry.nextReason = monotonic() + entry.reasonGap;
  entry.reasonGap = Math.min(entry.reasonGap * 2, longestReasonGapMs);
}
