import { hashBody } from "../../../runtime/hash.ts";
import type { ObjectKey } from "../object.ts";

/** A search looks back minutes; so many ids are those of hours. */
const MOST = 100_000;

/**
 * Resources that were claimed and are no longer, as hashes: their places are put together of parts, which would all be kept.
 * With each, the object that did not give it up itself: its status no longer counts.
 */
export function createReleasedIds() {
  const spent = new Map<string, ObjectKey | undefined>();
  return {
    add(place: string, loser?: ObjectKey): void {
      spent.set(hashBody(place), loser);
      const [oldest] = spent.keys();
      if (spent.size > MOST && oldest !== undefined) spent.delete(oldest);
    },
    delete: (place: string): void => void spent.delete(hashBody(place)),
    /** Whether somebody else than this object has had it. */
    has(place: string, by: ObjectKey | undefined): boolean {
      const hash = hashBody(place);
      return spent.has(hash) && (by === undefined || spent.get(hash) !== by);
    },
  };
}
