import type { MachineTime } from "../time.ts";
import type { FaultPlan } from "./plan.ts";

/** One token bucket per credential, in real time. Answers 0, or the whole seconds until a call would pass. */
export function createRateLimiter(machine: MachineTime, limit: () => FaultPlan["rateLimit"]) {
  const buckets = new Map<string, { tokens: number; at: number }>();
  return (credential: string): number => {
    const rule = limit();
    if (rule === undefined) return 0;
    const now = machine.monotonic();
    const bucket = buckets.get(credential) ?? { tokens: rule.burst, at: now };
    bucket.tokens = Math.min(rule.burst, bucket.tokens + ((now - bucket.at) / 1000) * rule.perSecond);
    bucket.at = now;
    buckets.set(credential, bucket);
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return 0;
    }
    return Math.max(1, Math.ceil((1 - bucket.tokens) / rule.perSecond));
  };
}
