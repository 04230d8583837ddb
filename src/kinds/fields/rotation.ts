import type { Rotation } from "../desired.ts";

const DAY_MS = 86_400_000;

/**
 * When a key or certificate is to be renewed, by the platform's clock; undefined when it is not by itself. What expires
 * does so by that clock, and is not asked for before `after`. Any other key has the age that our own clock gives it, which also
 * wrote down when it was issued: the platform's may be `aheadMs` of it.
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
