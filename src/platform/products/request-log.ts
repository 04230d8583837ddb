import type { Item } from "../collections/reading.ts";
import type { LoggedRequest } from "./requests.ts";

/** What one listing of the log showed, for one of those who share it. */
export interface LogLook {
  readonly requests: readonly LoggedRequest[];
  /** The resource itself; undefined when it is not there. Read once, by the first who asks, for all who share the listing. */
  read(id: string, signal: AbortSignal): Promise<Item | undefined>;
}

/**
 * Looks at the creations in one collection. The listing behind the answer began when the question was asked or later,
 * so that the answer vouches for everything up to that moment. A listing that fails fails all who share it.
 */
export type RequestLog = (createdAfter: number) => Promise<LogLook>;

/**
 * One read of a log at a time, however many ask: who asks while one is under way shares the next. A read reaches as far back as
 * the earliest time that those who share it ask for.
 */
export function shareReads<T>(read: (since: number) => Promise<T>): (since: number) => Promise<T> {
  let latest: Promise<unknown> = Promise.resolve();
  let upcoming: { since: number; readonly answer: Promise<T> } | undefined;

  function prepare(first: number) {
    const answer = latest.then(() => {
      const { since = first } = upcoming ?? {};
      upcoming = undefined;
      return read(since);
    });
    latest = answer.catch(() => {});
    return { since: first, answer };
  }

  return (since) => {
    upcoming ??= prepare(since);
    upcoming.since = Math.min(upcoming.since, since);
    return upcoming.answer;
  };
}

/** `list` is complete from `createdAfter` on; `get` reads one member of the collection. */
export function shareRequestLog(
  list: (createdAfter: number) => Promise<LoggedRequest[]>,
  get: LogLook["read"],
): RequestLog {
  const look = shareReads(async (createdAfter) => lookOf(await list(createdAfter), get));
  return async (createdAfter) => {
    const { requests, read } = await look(createdAfter);
    return { requests: requests.filter(({ createdAt }) => createdAt >= createdAfter), read };
  };
}

function lookOf(requests: readonly LoggedRequest[], get: LogLook["read"]): LogLook {
  const items = new Map<string, Promise<Item | undefined>>();
  return {
    requests,
    read(id, signal) {
      const item = items.get(id) ?? get(id, signal);
      items.set(id, item);
      return item;
    },
  };
}
