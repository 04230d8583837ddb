import { yieldWorker } from "../../runtime/workers.ts";
import { Retry } from "../answers/errors.ts";
import { LimitExceeded } from "../answers/limits.ts";
import type { Room } from "../answers/memory-budget.ts";
import type { ActivityLog } from "./export.ts";
import type { ActivityPage } from "./log.ts";

/** A pass has read for long enough: the next one goes on with the same reading. */
export class Unfinished extends Error {}

/** After this a pass begins no further page, and no delivery. */
const TURN_MS = 5_000;

/** The log as one pass reads it. */
export interface Turn extends ActivityLog {
  /** Throws `Unfinished` when this pass has done enough. */
  check(): void;
  /** Whether a later pass can go on with what was read, though this one ended with an error. */
  isResumable(error: unknown): boolean;
}

/**
 * Reads a part of the log over as many passes as it takes: a pass reads at least one page and few slow ones, and no page is read
 * twice. What is kept between two passes is counted as memory of the Account.
 */
export interface Reading {
  /** What is read: another one is another reading. */
  readonly of: string;
  /** When it began, by the platform's clock. */
  readonly at: number;
  begin(log: ActivityLog): Turn;
  close(): void;
}

export function createReading({ of, at }: Pick<Reading, "of" | "at">, room: Room): Reading {
  const pages = new Map<string, ActivityPage>();
  let uncounted = 0;
  /** Counts what is kept from here on. */
  const keep = () => {
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
        keep();
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
          // No worker is held while it waits for a page.
          const comeBack = yieldWorker();
          try {
            const answer = await page(period, offset, limit);
            read += 1;
            uncounted += answer.bytes ?? 0;
            pages.set(name, answer);
            return answer;
          } catch (error) {
            interrupted = error;
            keep();
            throw error;
          } finally {
            comeBack();
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
