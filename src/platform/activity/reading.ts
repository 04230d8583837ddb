import { yieldWorker } from "../../runtime/workers.ts";
import { Retry } from "../answers/errors.ts";
import { LimitExceeded } from "../answers/limits.ts";
import type { Room } from "../answers/memory-budget.ts";
import type { ActivityLog } from "./export.ts";
import type { ActivityPage } from "./log.ts";

/** The pass is over. The next pass continues the same read. */
export class Unfinished extends Error {}

/** After this time, a pass starts no further page and no delivery. */
const TURN_MS = 5_000;

/** The log for one pass. */
export interface Turn extends ActivityLog {
  /** Throws `Unfinished` if the time of this pass is over. */
  check(): void;
  /** Whether a later pass can continue the read after this error. */
  isResumable(error: unknown): boolean;
}

/**
 * A read of the log over several passes. Each pass reads at least one page, slow pages end it early, and no page is
 * read twice. The memory between two passes counts for the Account.
 */
export interface Reading {
  /** Identifies what is read. */
  readonly of: string;
  /** Time of its start, by the platform's clock. */
  readonly at: number;
  begin(log: ActivityLog): Turn;
  close(): void;
}

export function createReading({ of, at }: Pick<Reading, "of" | "at">, room: Room): Reading {
  const pages = new Map<string, ActivityPage>();
  let uncounted = 0;
  /** Counts the memory of the pages that are kept until the next pass. */
  const countMemory = () => {
    try {
      room.take(uncounted);
      uncounted = 0;
    } catch (error) {
      if (!(error instanceof LimitExceeded)) throw error;
      const failed = { call: "GET /activitylog/v1/contracts", status: 200, detail: error.message, cause: error };
      throw new Retry(failed, "no");
    }
  };
  return {
    of,
    at,
    begin({ clock, page }) {
      const begunAt = clock.monotonic();
      let interrupted: unknown;
      const check = () => {
        if (clock.monotonic() - begunAt < TURN_MS) return;
        countMemory();
        throw new Unfinished();
      };
      let read = 0;
      return {
        clock,
        async page(period, offset, limit) {
          const name = [period.from, period.to, offset, limit].join();
          const known = pages.get(name);
          if (known) return known;
          if (read > 0) check();
          // Releases the worker while it waits for a page.
          const resumeWorker = yieldWorker();
          try {
            const answer = await page(period, offset, limit);
            read += 1;
            uncounted += answer.bytes ?? 0;
            pages.set(name, answer);
            return answer;
          } catch (error) {
            interrupted = error;
            countMemory();
            throw error;
          } finally {
            resumeWorker();
          }
        },
        check,
        isResumable: (error) => error instanceof Unfinished || (error !== undefined && error === interrupted),
      };
    },
    close() {
      pages.clear();
      room.end(false);
    },
  };
}
