import { errorCode, refusal } from "../http/refusal.ts";
import type { World } from "../world.ts";

/** How much a contract may have. */
export const quotaLimits = { zones: 100, secondaryZones: 100, records: 10_000, reverseRecords: 1000 };

export const quotaUsage = ({ dns }: World): typeof quotaLimits => ({
  zones: dns.zones.size,
  secondaryZones: dns.secondaryZones.size,
  records: dns.records.size,
  reverseRecords: dns.reverseRecords.size,
});

/** 422 when `more` of them are too many. */
export function checkQuota(world: World, what: keyof typeof quotaLimits, more = 1): void {
  if (quotaUsage(world)[what] + more <= quotaLimits[what]) return;
  throw refusal(422, errorCode.refused, `The contract can have at most ${quotaLimits[what]} ${what}`);
}
