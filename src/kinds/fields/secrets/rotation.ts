import type { Rotation } from "../../desired.ts";

const DAY_MS = 86_400_000;

/**
 * Time of the next renewal of a key or certificate, by the platform's clock; undefined if Mooring does not renew it. The
 * dates of an expiring key are by the platform's clock, and it is not renewed before `after`. Any other key is dated by
 * the operator's clock, and the platform's clock is `aheadMs` ahead of that.
 */
export function dueAt(
  facts: { issuedAt: string; expiresAt?: string | undefined },
  rotation: Rotation | undefined,
  { after = 0, aheadMs = 0 }: { after?: number | undefined; aheadMs?: number } = {},
): number | undefined {
  if (!rotation) return undefined;
  const issued = Date.parse(facts.issuedAt);
  if (facts.expiresAt !== undefined) {
    const ends = Date.parse(facts.expiresAt);
    const due =
      rotation.beforeEndSeconds === undefined
        ? issued + ((ends - issued) * 2) / 3
        : ends - rotation.beforeEndSeconds * 1000;
    return Math.max(due, after);
  }
  if (rotation.everySeconds === undefined) return undefined;
  const earliest = issued + rotation.everySeconds * 1000;
  return (rotation.at === undefined ? earliest : nextTimeOfDay(earliest, rotation.at)) + aheadMs;
}

function nextTimeOfDay(earliest: number, at: string): number {
  const [hours = 0, minutes = 0] = at.split(":").map(Number);
  const midnight = Math.floor(earliest / DAY_MS) * DAY_MS;
  const thatDay = midnight + (hours * 60 + minutes) * 60_000;
  return thatDay >= earliest ? thatDay : thatDay + DAY_MS;
}
