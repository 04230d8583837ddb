import type { LastList } from "./last-list.ts";
import type { ListOptions } from "./list-reader.ts";

/** Single reads of the members that owners requested, in place of a list that does not show all members. */
export interface SingleReads {
  /** When the last ones ended, and how often they failed in a row. */
  readonly endedAt: number;
  readonly failures: number;
  /** Reads the requested members one by one, and notifies their owners. */
  start(): Promise<void>;
}

export function createSingleReads(options: ListOptions, last: LastList): SingleReads {
  const { clock, source, members, requests, signal } = options;
  let endedAt = Number.NEGATIVE_INFINITY;
  let failures = 0;
  return {
    get endedAt() {
      return endedAt;
    },
    get failures() {
      return failures;
    },
    async start() {
      last.isRunning = true;
      const { toNotify } = requests.serve();
      failures += 1;
      for (const id of toNotify) {
        const read = members.beginRead(clock.monotonic());
        const answer = await source.get?.(id, signal).then(
          (item) => ({ item }),
          () => undefined,
        );
        if (signal.aborted) return;
        // The others would probably fail too. A notified owner asks again.
        if (!answer) break;
        failures = 0;
        members.one(read, id, answer.item, false);
      }
      last.isRunning = false;
      endedAt = clock.monotonic();
      options.ended(new Set(toNotify));
    },
  };
}
