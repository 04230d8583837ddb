import type { Window } from "../activity/export.ts";

/** The destination of activity log entries. */
export interface Destination {
  /** The maximum number of entries per delivery: after a crash, no more than that are delivered again. */
  readonly most: number;
  /**
   * Resolves when the destination has stored all entries of a window; else rejects with a `PlatformError`. Entries that are
   * delivered again, after a crash or a lost answer, are stored once if the destination can tell.
   */
  deliver(window: Window): Promise<void>;
}
