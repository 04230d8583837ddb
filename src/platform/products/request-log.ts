import type { Item } from "../collections/reading.ts";
import { type LoggedRequest, mayBeSince } from "./requests.ts";

/** The result of one list of the log, as seen by one of the callers that share it. */
export interface LogReading {
  readonly requests: readonly LoggedRequest[];
  /** The resource itself; undefined when it does not exist. Read once for all callers that share the list. */
  read(id: string, signal: AbortSignal): Promise<Item | undefined>;
}

/**
 * Reads the creations in one collection. The list starts when it is requested or later, so the result covers everything up to
 * the request. If the list fails, it fails for all callers that share it.
 */
export type RequestLog = (createdAfter: number) => Promise<LogReading>;

/**
 * Reads a log once at a time: callers that ask during a read share the next one. A read starts at the earliest time that its
 * callers ask for.
 */
export function shareReads<T>(read: (since: number) => Promise<T>): (since: number) => Promise<T> {
  let latest: Promise<unknown> = Promise.resolve();
  let upcoming: { since: number; readonly answer: Promise<T> } | undefined;

  function schedule(first: number) {
    const answer = latest.then(() => {
      const { since = first } = upcoming ?? {};
      upcoming = undefined;
      return read(since);
    });
    latest = answer.catch(() => {});
    return { since: first, answer };
  }

  return (since) => {
    upcoming ??= schedule(since);
    upcoming.since = Math.min(upcoming.since, since);
    return upcoming.answer;
  };
}

/** `list` is complete from `createdAfter` on; `get` reads one member of the collection. */
export function shareRequestLog(
  list: (createdAfter: number) => Promise<LoggedRequest[]>,
  get: LogReading["read"],
): RequestLog {
  const readShared = shareReads(async (createdAfter) => readingOf(await list(createdAfter), get));
  return async (createdAfter) => {
    const { requests, read } = await readShared(createdAfter);
    return { requests: requests.filter(mayBeSince(createdAfter)), read };
  };
}

function readingOf(requests: readonly LoggedRequest[], get: LogReading["read"]): LogReading {
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
