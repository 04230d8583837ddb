import type { MachineTime } from "../time.ts";
import type { FaultPlan } from "./plan.ts";

/** `perSecond` calls on average, and `burst` at once. */
export interface Rate {
  perSecond: number;
  burst: number;
}

/** Token buckets by name, in real time. */
export interface Buckets {
  /** Takes a token. `wait` is 0, or the whole seconds until the next token; `left` tokens remain. */
  take(name: string, rate: Rate): { wait: number; left: number };
}

export function createBuckets(machine: MachineTime): Buckets {
  const buckets = new Map<string, { tokens: number; at: number }>();
  return {
    take(name, { perSecond, burst }) {
      const now = machine.monotonic();
      const bucket = buckets.get(name) ?? { tokens: burst, at: now };
      bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1000) * perSecond);
      bucket.at = now;
      buckets.set(name, bucket);
      if (bucket.tokens < 1) return { wait: Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond)), left: 0 };
      bucket.tokens -= 1;
      return { wait: 0, left: Math.floor(bucket.tokens) };
    },
  };
}

/** The limit of the fault plan, one bucket per credential. Answers 0, or the whole seconds until a call would pass. */
export function createRateLimiter(machine: MachineTime, limit: () => FaultPlan["rateLimit"]) {
  const buckets = createBuckets(machine);
  return (credential: string): number => {
    const rate = limit();
    return rate === undefined ? 0 : buckets.take(credential, rate).wait;
  };
}
