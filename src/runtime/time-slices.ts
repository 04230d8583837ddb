import type { Clock } from "./clock.ts";

/**
 * So long may work go on without a turn of the event loop. 25 ms are promised, and the item in hand and the garbage
 * collector, which copies whatever is new and stays, take their time as well.
 */
export const SLICE_MS = 5;

interface Line {
  /** When the present slice began. */
  since: number;
  readonly waiting: (() => void)[];
}

const lines = new WeakMap<Clock, Line>();

/**
 * To be awaited between two items of what may be a long row of work. While the slice lasts there is nothing to wait for;
 * when it is over, timers, sockets and everybody else get their turn first. All work on one clock shares the slice. Who
 * waits goes on in the order of arrival, one per turn, so that many rows together hold the loop no longer than one.
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
 * Does the same with each of many, the first slice of them at once. The items may change while it goes on. Who chooses them
 * among others yields undefined for what is passed over: choosing takes its time as well.
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
