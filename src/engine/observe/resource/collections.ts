import type { ResourceKind } from "../../../kinds/kind.ts";
import { createDeletionLogs, type DeletionLog } from "../../../platform/activity/deletion-logs.ts";
import { identified } from "../../../platform/collections/numbered.ts";
import {
  createSharedCollections,
  type Named,
  type SharedCollection,
  type SharedPlace,
} from "../../../platform/collections/shared-collections.ts";
import { products } from "../../../platform/products/products.ts";
import { createRequestLogs, type RequestLog } from "../../../platform/products/request-log.ts";
import { type AccountHandle, addressOf } from "../../accounts/accounts.ts";
import type { Claim } from "../../state/intent.ts";
import type { ObjectKey } from "../../state/object.ts";

/** The path of a collection, and the logs of the platform about it. */
interface Logs {
  readonly path: string;
  /** The log of POSTs to this path. */
  log(path: string): RequestLog;
  /** Logs of deletions, in the order to read them. */
  readonly logs: readonly DeletionLog[];
}

/** One collection of the platform, shared by its objects. */
export type Shared = SharedCollection & Logs;

export type Parents = Claim["parents"];

/** A collection: that of a kind under these parents, with an Account. */
interface Where {
  account: AccountHandle;
  kind: ResourceKind;
  parents: Parents;
}

export type Collections = ReturnType<typeof createCollections>;

/** The collections that objects need: that of their own resource, of what their output shows, and of what they left behind. */
const PURPOSES = ["own", "output", "remains"] as const;
type Purpose = (typeof PURPOSES)[number];

/** All open collections, by the kinds and Accounts of their objects. */
export function createCollections(options: Parameters<typeof createSharedCollections>[0]) {
  const shared = createSharedCollections<Logs, Purpose>(options, PURPOSES);
  const logsOf = createDeletionLogs(options.clock);

  function placeOf({ account, kind, parents }: Where): SharedPlace<Logs> {
    const { place, identity } = kind.resource;
    const { product, depth, livelyMs, reads } = place;
    const access = products[product];
    const path = place.collection(parents);
    const { connection } = account;
    const endpoint = addressOf(account, product);
    const source = identified(identity, access.collection(connection, endpoint, path, depth, reads));
    const open = () => ({
      path,
      log: createRequestLogs((posted) => access.requestLog(connection, endpoint, posted, source)),
      logs: logsOf(connection, account.endpoint("api"), product, endpoint, path),
    });
    return { connection, source, livelyMs, open };
  }

  return {
    /** Joins a collection. An object with a claim is enqueued for that member only. */
    join: (key: ObjectKey, where: Where, claim?: Named): Shared =>
      shared.join(key, placeOf(where), claim && [claim], "own"),
    /** Joins another collection for these members of it; leaves it without ids. One collection per purpose. */
    related(key: ObjectKey, where: Where, ids: readonly string[], purpose: Exclude<Purpose, "own"> = "output") {
      if (ids.length === 0) return void shared.leave(key, purpose);
      const named = ids.map((id) => ({ id }));
      return shared.join(key, placeOf(where), named, purpose).collection;
    },
    /** Reads one member now; undefined if there is none, or its product shows none by itself. */
    member: async (where: Where, id: string, signal: AbortSignal) => placeOf(where).source.get?.(id, signal),
    /** Reads all members now, without joining. */
    members: async (where: Where, signal: AbortSignal) => placeOf(where).source.list(signal, "people"),
    leave: shared.leaveAll,
    refresh: shared.refresh,
    close: shared.close,
  };
}
