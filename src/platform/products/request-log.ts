import type { Item } from "../collections/reading.ts";
import type { LoggedRequest } from "./requests.ts";

/** The result of one list of the log, as seen by one of the callers that share it. */
export interface LogLook {
  readonly requests: readonly LoggedRequest[];
  /** The resource itself; undefined when it does not exist. Read once for all callers that share the list. */
  read(id: string, signal: AbortSignal): Promise<Item | undefined>;
}

/**
 * Reads the creations in one collection. The list starts when it is requested or later, so the result covers everything up to
 * the request. If the list fails, it fails for all callers that share it.
 */
export type RequestLog = (createdAfter: number) => Promise<LogLook>;

/**
 * Reads a log once at a time: callers that ask during a read share the next one. A read starts at the earliest time that its
 * callers ask for.
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

/** Opens the log of each path once. */
export function createRequestLogs(open: (path: string) => RequestLog): (path: string) => RequestLog {
  const logs = new Map<string, RequestLog>();
  return (path) => {
    const log = logs.get(path) ?? open(path);
    logs.set(path, log);
    return log;
  };
}
