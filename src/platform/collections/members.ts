import { keptOrBefore } from "./kept-item.ts";
import type { Item } from "./reading.ts";

/** When a read started: its serial number, which does not depend on a clock, and the time on the monotonic clock. */
export interface ReadStart {
  readonly serial: number;
  readonly at: number;
}

/** The members of a collection, as its reads have shown them. */
export interface Members {
  readonly size: number;
  /** When the last applied list started. */
  readonly listedAt: number | undefined;
  items(): IteratorObject<Item>;
  item(id: string): Item | undefined;
  asOf(id: string): number | undefined;
  /** Call it before a read is sent. */
  beginRead(now: number): ReadStart;
  /** Applies a complete list. Awaits `pause` between two items. */
  list(
    read: ReadStart,
    items: readonly Item[],
    absenceExpected: (id: string) => boolean,
    pause?: () => Promise<void> | undefined,
  ): Promise<Listed>;
  /** Applies the answer about one member (undefined: 404). True when the cached state has changed. */
  one(read: ReadStart, id: string, item: Item | undefined, absenceExpected: boolean): boolean;
  /** The parent is gone, and with it all members. */
  clear(read: ReadStart): void;
}

export interface Listed {
  /** Ids whose cached state has changed. */
  readonly changed: Set<string>;
  /** The changed ids that no earlier read has shown. */
  readonly appeared: Set<string>;
  /** Ids that the list missed, but that are kept until another read misses them too. */
  readonly doubted: Set<string>;
}

interface Seen {
  item: Item;
  /** The last read that showed it. */
  read: ReadStart;
  /** A later read missed it. */
  doubted: boolean;
}

/**
 * Reads overlap, and lists are not exact: a page may miss a new item, and items move between pages when one before them is
 * deleted. So there are two rules. The read that started last wins, whichever answer comes first. A member that was seen is
 * dropped only when two reads in a row miss it, unless its absence is expected (`absenceExpected`).
 */
export function createMembers(): Members {
  const seen = new Map<string, Seen>();
  /** Members that a single read did not find after the last list. */
  const notFound = new Map<string, ReadStart>();
  let lastList: ReadStart | undefined;
  /** The last read that shows absence: a list, or the answer that the parent is gone. */
  let lastAbsence: ReadStart | undefined;
  let serial = 0;

  const see = (read: ReadStart, item: Item): boolean => {
    const before = seen.get(item.id);
    const latestSerial = Math.max(before?.read.serial ?? 0, notFound.get(item.id)?.serial ?? 0);
    if (latestSerial > read.serial) return false;
    notFound.delete(item.id);
    const kept = keptOrBefore(before?.item, item);
    seen.set(kept.id, { item: kept, read, doubted: false });
    return kept !== before?.item;
  };

  /** A read missed a member that an earlier one has shown. */
  const miss = (read: ReadStart, id: string, entry: Seen, isExpected: boolean): "stale" | "doubted" | "dropped" => {
    if (entry.read.serial > read.serial) return "stale";
    if (!isExpected && !entry.doubted) {
      entry.doubted = true;
      return "doubted";
    }
    seen.delete(id);
    return "dropped";
  };

  return {
    get size() {
      return seen.size;
    },
    get listedAt() {
      return lastList?.at;
    },
    items: () => seen.values().map(({ item }) => item),
    item: (id) => seen.get(id)?.item,
    asOf: (id) => (seen.get(id)?.read ?? notFound.get(id) ?? lastAbsence)?.at,
    beginRead: (now) => ({ serial: ++serial, at: now }),
    async list(read, items, absenceExpected, pause) {
      const changed = new Set<string>();
      const appeared = new Set<string>();
      const doubted = new Set<string>();
      const listed = new Set<string>();
      for (const item of items) {
        listed.add(item.id);
        const isKnown = seen.has(item.id);
        if (see(read, item)) {
          changed.add(item.id);
          if (!isKnown) appeared.add(item.id);
        }
        const wait = pause?.();
        if (wait) await wait;
      }
      for (const [id, entry] of seen) {
        const outcome = listed.has(id) ? "listed" : miss(read, id, entry, absenceExpected(id));
        if (outcome === "dropped") changed.add(id);
        if (outcome === "doubted") doubted.add(id);
        const wait = pause?.();
        if (wait) await wait;
      }
      for (const [id, { serial }] of notFound) if (serial < read.serial) notFound.delete(id);
      lastList = read;
      lastAbsence = read;
      return { changed, appeared, doubted };
    },
    one(read, id, item, absenceExpected) {
      if (item !== undefined) return see(read, item);
      const entry = seen.get(id);
      const outcome = entry && miss(read, id, entry, absenceExpected);
      if (entry === undefined || outcome === "dropped") notFound.set(id, read);
      return outcome === "dropped";
    },
    clear(read) {
      seen.clear();
      notFound.clear();
      lastAbsence = read;
    },
  };
}
