import type { Window } from "../activity/export.ts";

/** Where entries of the activity log go. */
export interface Destination {
  /** So many entries are delivered at once: what is delivered again after a crash is no more than that. */
  readonly most: number;
  /**
   * Resolves when the destination has all entries of a window for good; else it rejects with a `PlatformError`. What is delivered
   * again, after a crash or a lost answer, is there once where the destination can tell.
   */
  deliver(window: Window): Promise<void>;
}
