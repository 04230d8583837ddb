import { activityDeletions, type KnownDeletions } from "../../../platform/activity/deletions.ts";
import type { Connection } from "../../../platform/calls/transport.ts";
import { type Product, products } from "../../../platform/products/products.ts";
import { shareReads } from "../../../platform/products/request-log.ts";
import type { Clock } from "../../../runtime/clock.ts";
import { type AccountHandle, addressOf } from "../../accounts/accounts.ts";

/** Reads the deletions since a time from a log of the platform. */
export type DeletionLog = (since: number) => Promise<KnownDeletions>;

/** The shortest interval between two reads of the activity log of a contract. */
const ACTIVITY_MS = 20_000;

/** The logs with the deletions of a collection, in the order to read them. Concurrent reads are shared. */
export function createDeletionLogs(clock: Clock) {
  const activities = new WeakMap<Connection, DeletionLog>();

  function openActivity({ connection, endpoint }: AccountHandle): DeletionLog {
    const api = endpoint("api");
    let last: { readAt: number; since: number; answer: Promise<KnownDeletions> } | undefined;
    const read = shareReads((since) => activityDeletions(connection, api, { since, now: clock.now() }));
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

  return (account: AccountHandle, product: Product, path: string): DeletionLog[] => {
    const activity = activities.get(account.connection) ?? openActivity(account);
    activities.set(account.connection, activity);
    const { deletions } = products[product];
    if (!deletions) return [activity];
    const { connection } = account;
    const address = addressOf(account, product);
    const requests: DeletionLog = shareReads(async (since) => {
      return { deletions: await deletions(connection, address, path, since), complete: true };
    });
    return [requests, activity];
  };
}
