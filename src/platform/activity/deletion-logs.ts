import type { Clock } from "../../runtime/clock.ts";
import { Retry, Unauthorized } from "../answers/errors.ts";
import { reachedTime } from "../calls/platform-time.ts";
import type { Connection } from "../calls/transport.ts";
import { type Product, products } from "../products/products.ts";
import { shareReads } from "../products/request-log.ts";
import { type Deletion, matchingDeletion, type Whereabouts } from "../products/requests.ts";
import { activityDeletions, type KnownDeletions } from "./deletions.ts";

/** Reads the deletions since a time from a log of the platform. */
export type DeletionLog = (since: number) => Promise<KnownDeletions>;

/** The deletion of a resource in these logs, and whether one of them would show it. */
export async function deletionIn(
  logs: readonly DeletionLog[],
  where: Whereabouts,
  since: number,
): Promise<{ logged: boolean; deletion?: Deletion }> {
  let logged = false;
  for (const log of logs) {
    const found = await log(since).catch((error: unknown) => {
      // Temporary errors are reported. A log that may not be read counts as no log.
      if (error instanceof Retry || error instanceof Unauthorized) throw error;
    });
    logged ||= found?.complete ?? false;
    const deletion = matchingDeletion(where, found?.deletions ?? []);
    if (deletion) return { logged, deletion };
  }
  return { logged };
}

/** The shortest interval between two reads of the activity log of a contract. */
const ACTIVITY_MS = 20_000;

/** The logs with the deletions of a collection, in the order to read them. Concurrent reads are shared. */
export function createDeletionLogs(clock: Clock) {
  const activities = new WeakMap<Connection, DeletionLog>();

  function openActivity(connection: Connection, api: string): DeletionLog {
    let last: { readAt: number; since: number; answer: Promise<KnownDeletions> } | undefined;
    const read = shareReads((since) =>
      activityDeletions(connection, api, { since, now: reachedTime(clock, connection) }),
    );
    return (since) => {
      const readAt = clock.monotonic();
      if (last && last.since <= since && readAt - last.readAt < ACTIVITY_MS) return last.answer;
      const answer = read(since);
      last = { readAt, since, answer };
      answer.catch(() => {
        if (last?.answer === answer) last = undefined;
      });
      return answer;
    };
  }

  /** `api` is the address of the activity log, `address` that of the product. */
  return (connection: Connection, api: string, product: Product, address: string, path: string): DeletionLog[] => {
    const activity = activities.get(connection) ?? openActivity(connection, api);
    activities.set(connection, activity);
    const { deletions } = products[product];
    if (!deletions) return [activity];
    const requests: DeletionLog = shareReads(async (since) => {
      return { deletions: await deletions(connection, address, path, since), complete: true };
    });
    return [requests, activity];
  };
}
