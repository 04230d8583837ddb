import { hashBody } from "../../../runtime/hash.ts";
import type { ObjectKey } from "../object.ts";

/** Enough for hours, while a search looks back only minutes. */
const MOST = 100_000;

/**
 * Resources that were claimed and no longer are, as hashes, which take less memory than their places. With each, the object that
 * lost it by an edit of its status.
 */
export function createReleasedIds() {
  const released = new Map<string, ObjectKey | undefined>();
  return {
    add(place: string, loser?: ObjectKey): void {
      released.set(hashBody(place), loser);
      const [oldest] = released.keys();
      if (released.size > MOST && oldest !== undefined) released.delete(oldest);
    },
    delete: (place: string): void => void released.delete(hashBody(place)),
    /** Whether an object has had it, other than `by` if that lost it by an edit. */
    has(place: string, by: ObjectKey | undefined): boolean {
      const hash = hashBody(place);
      return released.has(hash) && (by === undefined || released.get(hash) !== by);
    },
  };
}
