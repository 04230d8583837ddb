import { hashBody } from "../../../runtime/hash.ts";
import type { ObjectKey } from "../object.ts";

/** As many as in hours; a search looks back minutes. */
const MOST = 100_000;

/**
 * Resources that were claimed and no longer are, as hashes, which take less memory than their places. With each, the object that
 * lost it by an edit of its status.
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
    /** Whether another object than this one has had it. */
    has(place: string, by: ObjectKey | undefined): boolean {
      const hash = hashBody(place);
      return spent.has(hash) && (by === undefined || spent.get(hash) !== by);
    },
  };
}
