import { inSlices } from "../../runtime/time-slices.ts";
import type { Connection } from "../calls/transport.ts";
import { type Collection, type CollectionOptions, type CollectionSource, openCollection } from "./collection.ts";
import { identityOf } from "./numbered.ts";

/** One collection, shared by the objects that joined it. */
export interface SharedCollection {
  readonly collection: Collection;
  readonly source: CollectionSource;
  /** The identity of a claimed member in the collection. */
  identify(claim: Named): string;
  /** The list lacks more than a few claimed members, or shows none at all: it proves nothing. */
  lacksMany(): boolean;
}

/** This many members may be missing from a list that is still credible. */
const FEW = 3;

/** A claimed member. */
export interface Named {
  id: string;
  born?: string | undefined;
}

/** A collection to join. */
export interface SharedPlace<More> {
  readonly connection: Connection;
  readonly source: CollectionSource;
  /** Resync interval, if shorter than that of other collections. */
  readonly livelyMs?: number | undefined;
  /** Makes the parts that the caller keeps with an open collection. */
  open(): More;
}

interface Entry extends SharedCollection {
  readonly connection: Connection;
  /** Objects by the member that they joined for. `others` joined for all changes. */
  readonly members: Map<string, Set<string>>;
  readonly others: Set<string>;
}

/** The members that an object joined for; all changes if `ids` is undefined. */
interface Membership<More> {
  entry: Entry & More;
  ids: Set<string> | undefined;
}

interface Options extends Required<Pick<CollectionOptions, "clock" | "log" | "restMs" | "busyMs">> {
  /** A member of the object has changed; `since` is when that was known. */
  wake: (key: string, since: number) => void;
}

/**
 * All open collections. Each is opened once for all its objects, enqueues them on changes, and closes after the last. For each
 * purpose an object is in one collection.
 */
export function createSharedCollections<More extends object, Purpose extends string>(
  options: Options,
  purposes: readonly Purpose[],
) {
  const entries = new Map<string, Entry & More>();
  const joined = new Map(purposes.map((purpose) => [purpose, new Map<string, Membership<More>>()]));

  function leave(key: string, purpose: Purpose): void {
    const membership = joined.get(purpose)?.get(key);
    if (!membership) return;
    const { entry, ids } = membership;
    joined.get(purpose)?.delete(key);
    drop(entry, key, ids);
    if (entry.members.size + entry.others.size > 0) return;
    entry.collection.close();
    entries.delete(entry.source.key);
  }

  return {
    /** Joins a collection. An object with claims is enqueued for these members only. */
    join(key: string, place: SharedPlace<More>, claims: readonly Named[] | undefined, purpose: Purpose) {
      const { connection, source, livelyMs } = place;
      const before = joined.get(purpose)?.get(key);
      const opened = entries.get(source.key);
      // An Account that was deleted and created again has another connection.
      const known = opened?.connection === connection ? opened : undefined;
      const ids = claims && new Set(claims.map((claim) => known?.identify(claim) ?? identityOf(claim)));
      if (known && before?.entry === known && isSame(before.ids, ids)) return known;
      const entry = known ?? openEntry(options, { source, connection, ...place.open() }, livelyMs, opened);
      entries.set(source.key, entry);
      const isDropped = (id: string) => !ids?.has(id);
      // Joins before it leaves, so that the collection is not closed in between.
      if (!ids) entry.others.add(key);
      for (const id of ids ?? []) entry.members.set(id, (entry.members.get(id) ?? new Set()).add(key));
      if (before?.entry !== entry) leave(key, purpose);
      else if (before.ids) drop(entry, key, before.ids.values().filter(isDropped));
      else if (ids) entry.others.delete(key);
      joined.get(purpose)?.set(key, { entry, ids });
      return entry;
    },
    leave,
    leaveAll(key: string): void {
      for (const purpose of purposes) leave(key, purpose);
    },
    /** Lists the collections of this object now, and enqueues it. */
    refresh(key: string): void {
      for (const memberships of joined.values()) {
        const { entry, ids = [] } = memberships.get(key) ?? {};
        entry?.collection.refresh([...ids]);
      }
    },
    close(): void {
      for (const { collection } of entries.values()) collection.close();
      entries.clear();
    },
  };
}

/** Opens a collection. The objects of `before`, the same one with an older connection, stay in it. */
function openEntry<More extends Pick<Entry, "source" | "connection">>(
  { clock, log, restMs, busyMs, wake }: Options,
  kept: More,
  livelyMs = restMs,
  before?: Entry,
): Entry & More {
  const { source } = kept;
  before?.collection.close();
  const collection = openCollection(source, { clock, log, restMs: Math.min(restMs, livelyMs), busyMs });
  // Without a creation date, the claim means whichever member has the number now.
  const identify = (claim: Named) => {
    if (claim.born !== undefined || !source.isStillThere) return identityOf(claim);
    const number = identityOf({ ...claim, born: "" });
    return collection.members().find(({ id }) => id.startsWith(number))?.id ?? claim.id;
  };
  const joined = before ?? { members: new Map(), others: new Set() };
  const entry: Entry & More = Object.assign(joined, kept, { collection, identify, lacksMany: () => lacksMany(entry) });
  collection.subscribe((ids) => {
    const since = clock.monotonic();
    void inSlices(clock, concerned(entry, ids), (key) => wake(key, since));
  });
  return entry;
}

/** The objects that a change of a collection concerns. */
function* concerned({ others, members }: Entry, ids: ReadonlySet<string> | "all") {
  yield* others;
  for (const id of ids === "all" ? members.keys() : ids) yield* members.get(id) ?? [undefined];
}

/** Takes an object from these members, or from `others`. A member without objects is no longer tracked. */
function drop({ members, others, collection }: Entry, key: string, ids: Iterable<string> | undefined): void {
  if (!ids) others.delete(key);
  for (const id of ids ?? []) {
    const keys = members.get(id);
    keys?.delete(key);
    if (keys?.size !== 0) continue;
    members.delete(id);
    collection.untrack(id);
  }
}

function lacksMany({ collection, members }: Entry): boolean {
  let missing = 0;
  for (const id of members.keys()) {
    if (!collection.read(id).item && !collection.isLeaving(id)) missing += 1;
    if (missing > FEW) return true;
  }
  return missing > 0 && collection.members().next().done === true;
}

const isSame = (before: ReadonlySet<string> | undefined, after: ReadonlySet<string> | undefined): boolean =>
  before === after || (before?.size === after?.size && [...(after ?? [])].every((id) => before?.has(id)));
