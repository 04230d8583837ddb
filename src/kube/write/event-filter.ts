import type { Clock } from "../../runtime/clock.ts";
import { createLru } from "../client/lru.ts";

/** So many at once, and one more after each pause. */
interface Limit {
  burst: number;
  refillMs: number;
}

/** client-go's spam filter, for each object. */
const OBJECT: Limit = { burst: 25, refillMs: 300_000 };
/** What goes as it should is told by status as well: thousands of objects need not be thousands of writes more. */
const STORM: Limit = { burst: 100, refillMs: 1000 };
const BUCKETS = 4096;

/** Whether an Event is written: of each object, and, where nothing is wrong, for each namespace and reason. */
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

/** One bucket of tokens per key; the ones used longest ago are forgotten, and are full again. */
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
