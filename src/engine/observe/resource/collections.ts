import type { ResourceKind } from "../../../kinds/kind.ts";
import { createDeletionLogs, type DeletionLog } from "../../../platform/activity/deletion-logs.ts";
import type { Connection } from "../../../platform/calls/transport.ts";
import {
  type Collection,
  type CollectionOptions,
  type CollectionSource,
  openCollection,
} from "../../../platform/collections/collection.ts";
import { identityOf } from "../../../platform/collections/numbered.ts";
import { products } from "../../../platform/products/products.ts";
import { createRequestLogs, type RequestLog } from "../../../platform/products/request-log.ts";
import { inSlices } from "../../../runtime/time-slices.ts";
import { type AccountHandle, addressOf } from "../../accounts/accounts.ts";
import { identified } from "../../state/identity.ts";
import type { Claim } from "../../state/intent.ts";
import type { ObjectKey } from "../../state/object.ts";

/** One collection of the platform, shared by its objects. */
export interface Shared {
  readonly collection: Collection;
  readonly source: CollectionSource;
  readonly path: string;
  /** The identity of a claimed resource in the collection. */
  identify(claim: Named): string;
  /** The log of POSTs to this path. */
  log(path: string): RequestLog;
  /** Logs of deletions, in the order to read them. */
  readonly logs: readonly DeletionLog[];
  /** The list lacks more than a few claimed members, or shows none at all: it proves nothing. */
  lacksMany(): boolean;
}

/** This many members may be missing from a list that is still credible. */
const FEW = 3;

type Named = Pick<Claim, "id" | "born">;
export type Parents = Claim["parents"];

/** A collection: that of a kind under these parents, with an Account. */
interface Where {
  account: AccountHandle;
  kind: ResourceKind;
  parents: Parents;
}

export type Collections = ReturnType<typeof createCollections>;

interface Entry extends Shared {
  readonly connection: Connection;
  /** Objects by the member that they joined for. `others` joined for all changes. */
  readonly members: Map<string, Set<ObjectKey>>;
  readonly others: Set<ObjectKey>;
}

/** The members that an object joined for; all changes if `ids` is undefined. */
interface Membership {
  entry: Entry;
  ids: Set<string> | undefined;
}
type Memberships = Map<ObjectKey, Membership>;

interface Options extends Required<Pick<CollectionOptions, "clock" | "log" | "restMs" | "busyMs">> {
  /** A member of the object has changed; `since` is when that was known. */
  wake: (key: ObjectKey, since: number) => void;
}

/** All open collections. Each is opened once for all its objects, enqueues them on changes, and closes after the last. */
export function createCollections(options: Options) {
  const entries = new Map<string, Entry>();
  const own: Memberships = new Map();
  const forPurpose = { output: new Map(), remains: new Map() } satisfies Record<string, Memberships>;
  const every: Memberships[] = [own, forPurpose.output, forPurpose.remains];
  const logsOf = createDeletionLogs(options.clock);

  function quit(memberships: Memberships, key: ObjectKey): void {
    const membership = memberships.get(key);
    if (!membership) return;
    const { entry, ids } = membership;
    memberships.delete(key);
    drop(entry, key, ids);
    if (entry.members.size + entry.others.size > 0) return;
    entry.collection.close();
    entries.delete(entry.source.key);
  }

  function enter(
    memberships: Memberships,
    key: ObjectKey,
    { account, kind, parents }: Where,
    claims: readonly Named[] | undefined,
  ): Entry {
    const { product, depth, collection, livelyMs, reads } = kind.resource.place;
    const access = products[product];
    const path = collection(parents);
    const { connection } = account;
    const endpoint = addressOf(account, product);
    const source = identified(kind, access.collection(connection, endpoint, path, depth, reads));
    const before = memberships.get(key);
    const opened = entries.get(source.key);
    // An Account that was deleted and created again has another connection.
    const known = opened?.connection === connection ? opened : undefined;
    const ids = claims && new Set(claims.map((claim) => known?.identify(claim) ?? identityOf(claim)));
    if (known && before?.entry === known && isSame(before.ids, ids)) return known;
    const log = createRequestLogs((posted) => access.requestLog(connection, endpoint, posted, source));
    const logs = () => logsOf(connection, account.endpoint("api"), product, endpoint, path);
    const entry = known ?? openEntry(options, { source, path, log, logs: logs(), connection }, livelyMs, opened);
    entries.set(source.key, entry);
    const isDropped = (id: string) => !ids?.has(id);
    // Joins before it leaves, so that the collection is not closed in between.
    if (!ids) entry.others.add(key);
    for (const id of ids ?? []) entry.members.set(id, (entry.members.get(id) ?? new Set()).add(key));
    if (before?.entry !== entry) quit(memberships, key);
    else if (before.ids) drop(entry, key, before.ids.values().filter(isDropped));
    else if (ids) entry.others.delete(key);
    memberships.set(key, { entry, ids });
    return entry;
  }

  return {
    /** Joins a collection. An object with a claim is enqueued for that member only. */
    join: (key: ObjectKey, where: Where, claim?: Named): Shared => enter(own, key, where, claim && [claim]),
    /** Joins another collection for these members of it; leaves it without ids. One collection per purpose. */
    related(key: ObjectKey, where: Where, ids: readonly string[], purpose: keyof typeof forPurpose = "output") {
      if (ids.length === 0) return void quit(forPurpose[purpose], key);
      const named = ids.map((id) => ({ id }));
      return enter(forPurpose[purpose], key, where, named).collection;
    },
    leave(key: ObjectKey): void {
      for (const memberships of every) quit(memberships, key);
    },
    /** Lists the collections of this object now, and enqueues it. */
    refresh(key: ObjectKey): void {
      for (const memberships of every) {
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
function openEntry(
  { clock, log, restMs, busyMs, wake }: Options,
  shared: Pick<Entry, "source" | "path" | "log" | "logs" | "connection">,
  livelyMs = restMs,
  before?: Entry,
): Entry {
  const { source } = shared;
  before?.collection.close();
  const collection = openCollection(source, { clock, log, restMs: Math.min(restMs, livelyMs), busyMs });
  // Without a creation date, the claim means whichever member has the number now.
  const identify = (claim: Named) => {
    if (claim.born !== undefined || !source.isStillThere) return identityOf(claim);
    const number = identityOf({ ...claim, born: "" });
    return collection.members().find(({ id }) => id.startsWith(number))?.id ?? claim.id;
  };
  const joined = before ?? { members: new Map(), others: new Set() };
  const entry: Entry = Object.assign(joined, shared, { collection, identify, lacksMany: () => lacksMany(entry) });
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
function drop({ members, others, collection }: Entry, key: ObjectKey, ids: Iterable<string> | undefined): void {
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

function isSame(before: Membership["ids"], after: Membership["ids"]): boolean {
  return before === after || (before?.size === after?.size && [...(after ?? [])].every((id) => before?.has(id)));
}
