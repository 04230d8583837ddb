import type { Clock } from "./clock.ts";

/**
 * The longest that work runs before the event loop gets a turn. The promise is 25 ms; the difference is for the current item
 * and for the garbage collector, which copies new objects that stay.
 */
export const SLICE_MS = 5;

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
    if (line.waiting.push(resolve) === 1) setImmediate(turn, clock, line);
  });
}

function turn(clock: Clock, line: Line): void {
  line.since = clock.monotonic();
  line.waiting.shift()?.();
  if (line.waiting.length > 0) setImmediate(turn, clock, line);
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
