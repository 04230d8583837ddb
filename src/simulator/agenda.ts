import type { MachineTime, SimulatedClock } from "./time.ts";

/**
 * Timers in simulated time. Entries fire in order of their instant (equal instants in order of entry), either from
 * `run`, which the listener calls before every answer, or from one timer for the earliest entry. So no answer shows an
 * outdated state, and nothing polls.
 */
export interface Agenda {
  schedule(at: number, fire: (at: number) => void): void;
  /** Fires every entry that is due. */
  run(): void;
  close(): void;
}

interface Entry {
  at: number;
  order: number;
  fire(at: number): void;
}

/** setTimeout overflows above this many milliseconds. */
const longestTimer = 2 ** 31 - 1;

export function createAgenda(clock: SimulatedClock, machine: MachineTime): Agenda {
  const heap: Entry[] = [];
  let entered = 0;
  let cancelTimer: (() => void) | undefined;

  function arm() {
    cancelTimer?.();
    const next = heap[0];
    if (next === undefined) return;
    cancelTimer = machine.after(Math.min(Math.ceil(clock.realUntil(next.at)), longestTimer), run);
  }

  function run() {
    const now = clock.now();
    for (let next = heap[0]; next !== undefined && next.at <= now; next = heap[0]) {
      takeFirst(heap);
      next.fire(next.at);
    }
    // The clock may have been moved since the timer was set.
    arm();
  }

  return {
    schedule(at, fire) {
      const entry = { at, order: entered++, fire };
      insert(heap, entry);
      if (heap[0] === entry) arm();
    },
    run,
    close() {
      cancelTimer?.();
      heap.length = 0;
    },
  };
}

function before(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function insert(heap: Entry[], entry: Entry): void {
  let index = heap.length;
  heap.push(entry);
  while (index > 0) {
    const above = (index - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || !before(entry, parent)) break;
    heap[index] = parent;
    index = above;
  }
  heap[index] = entry;
}

function takeFirst(heap: Entry[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let index = 0;
  for (;;) {
    let below = 2 * index + 1;
    let child = heap[below];
    if (child === undefined) break;
    const right = heap[below + 1];
    if (right !== undefined && before(right, child)) {
      below += 1;
      child = right;
    }
    if (!before(child, last)) break;
    heap[index] = child;
    index = below;
  }
  heap[index] = last;
}
