import type { Clock } from "../clock.ts";
import { createLru } from "./lru.ts";

const BURST = 25;
const REFILL_MS = 300_000;
const OBJECTS = 4096;

/** client-go's spam filter: 25 events at once for each object, and one more every five minutes. */
export function createEventFilter(clock: Clock): (objectKey: string) => boolean {
  const buckets = createLru<{ tokens: number; at: number }>(OBJECTS);
  return (objectKey) => {
    const now = clock.monotonic();
    const bucket = buckets.get(objectKey) ?? { tokens: BURST, at: now };
    const tokens = Math.min(BURST, bucket.tokens + (now - bucket.at) / REFILL_MS);
    const passes = tokens >= 1;
    buckets.set(objectKey, { tokens: passes ? tokens - 1 : tokens, at: now });
    return passes;
  };
}
