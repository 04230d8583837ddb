import type { Clock } from "../../runtime/clock.ts";
import { createLru } from "../../runtime/lru.ts";

/** A token bucket: `burst` at once, and one more each `refillMs`. */
interface Limit {
  burst: number;
  refillMs: number;
}

/** The limits of client-go's spam filter, per object. */
const OBJECT: Limit = { burst: 25, refillMs: 300_000 };
/** For Normal Events: thousands of objects must not cause thousands of writes, and their status shows the same progress. */
const STORM: Limit = { burst: 100, refillMs: 1000 };
const BUCKETS = 4096;

/** Whether an Event is written. Limits Events per object, and Normal ones also per namespace and reason. */
export interface EventFilter {
  passes(object: string, event: { type: "Normal" | "Warning"; namespace: string; reason: string }): boolean;
}

export function createEventFilter(clock: Pick<Clock, "monotonic">): EventFilter {
  const ofObjects = createBuckets(clock, OBJECT);
  const ofStorms = createBuckets(clock, STORM);
  return {
    passes: (object, { type, namespace, reason }) =>
      (type === "Warning" || ofStorms(`${namespace}/${reason}`)) && ofObjects(object),
  };
}

/** One token bucket per key; the least recently used are dropped, and start full again. */
function createBuckets(clock: Pick<Clock, "monotonic">, { burst, refillMs }: Limit): (key: string) => boolean {
  const buckets = createLru<{ tokens: number; at: number }>(BUCKETS);
  return (key) => {
    const now = clock.monotonic();
    const bucket = buckets.get(key) ?? { tokens: burst, at: now };
    const tokens = Math.min(burst, bucket.tokens + (now - bucket.at) / refillMs);
    const passes = tokens >= 1;
    buckets.set(key, { tokens: passes ? tokens - 1 : tokens, at: now });
    return passes;
  };
}
