import type { Clock } from "./clock.ts";

/**
 * The longest that work runs before the event loop gets a turn. Nothing may block the event loop for longer than 25 ms. The
 * rest of that time is for the item that is in work, and for the garbage collector, which copies new objects that survive.
 */
export const SLICE_MS = 5;

/** The callers on one clock. */
interface Line {
  /** When the current slice began. */
  since: number;
  readonly waiting: (() => void)[];
}

const lines = new WeakMap<Clock, Line>();

/**
 * Await this between two items of long work. It returns undefined while the slice lasts; after that, timers, sockets and other
 * work run first. All work on one clock shares the slice. Waiting callers continue in the order of arrival, one per turn, so
 * many of them together hold the event loop no longer than one.
 */
export function yieldIfDue(clock: Clock): Promise<void> | undefined {
  const line = lines.get(clock) ?? { since: clock.monotonic(), waiting: [] };
  lines.set(clock, line);
  if (clock.monotonic() - line.since < SLICE_MS) return undefined;
  return new Promise((resolve) => {
    if (line.waiting.push(resolve) === 1) setImmediate(continueNext, clock, line);
  });
}

function continueNext(clock: Clock, line: Line): void {
  line.since = clock.monotonic();
  line.waiting.shift()?.();
  if (line.waiting.length > 0) setImmediate(continueNext, clock, line);
}

/**
 * Calls `perform` for each item, in time slices; the first slice runs at once. The items may change meanwhile. An iterator that
 * filters yields undefined for each item it skips, because filtering takes time too.
 */
export async function inSlices<T>(
  clock: Clock,
  items: Iterable<T | undefined>,
  perform: (item: T) => void,
): Promise<void> {
  for (const item of items) {
    if (item !== undefined) perform(item);
    const pause = yieldIfDue(clock);
    if (pause) await pause;
  }
}
