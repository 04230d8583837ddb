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

/** A listing that has not begun. It will reach as far back as the most curious of those who wait for it. */
interface Upcoming {
  createdAfter: number;
  readonly look: Promise<LogLook>;
}

/**
 * One listing at a time, however many ask: who comes while one is under way shares the next. `list` is complete from
 * `createdAfter` on; `get` reads one member of the collection.
 */
export function shareRequestLog(
  list: (createdAfter: number) => Promise<LoggedRequest[]>,
  get: LogLook["read"],
): RequestLog {
  let latest: Promise<unknown> = Promise.resolve();
  let upcoming: Upcoming | undefined;

  function prepare(createdAfter: number): Upcoming {
    const look = latest.then(async () => {
      const from = upcoming?.createdAfter ?? createdAfter;
      upcoming = undefined;
      return lookOf(await list(from), get);
    });
    latest = look.catch(() => {});
    return { createdAfter, look };
  }

  return async (createdAfter) => {
    upcoming ??= prepare(createdAfter);
    upcoming.createdAfter = Math.min(upcoming.createdAfter, createdAfter);
    const { requests, read } = await upcoming.look;
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
