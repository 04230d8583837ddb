import type { Clock } from "../../runtime/clock.ts";
import { SLICE_MS } from "../../runtime/time-slices.ts";

/** Node fires a longer timer at once. A timer that fires early finds nothing due and is set again. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A heap with fewer stale entries than this is not rebuilt. */
const SPARE = 64;

interface Entry<T> {
  key: string;
  at: number;
  value: T;
}

export interface Delays<T> {
  /** Makes the key due after `ms`, or at the time it already has if that is earlier. The values are merged. */
  add(key: string, ms: number, value: T): void;
  /** Cancels the key. */
  remove(key: string): void;
  clear(): void;
  readonly size: number;
}

/**
 * Keys with a delay, in a binary heap with a single timer. An entry that was removed, or replaced by an earlier one of the same
 * key, stays in the heap and is skipped when due. The heap is rebuilt when most of its entries are stale.
 */
export function createDelays<T>(options: {
  clock: Clock;
  due: (key: string, value: T) => void;
  merge: (a: T, b: T) => T;
}): Delays<T> {
  const { clock, due, merge } = options;
  const current = new Map<string, Entry<T>>();
  const heap: Entry<T>[] = [];
  let cancel: (() => void) | undefined;

  function arm(): void {
    cancel?.();
    const first = heap[0];
    cancel = first && clock.after(Math.min(first.at - clock.monotonic(), LONGEST_TIMER_MS), fire);
  }

  function fire(): void {
    cancel = undefined;
    // When very many keys are due at once, the next timer handles the rest.
    const end = clock.monotonic() + SLICE_MS;
    for (let first = heap[0]; first && first.at <= clock.monotonic() && clock.monotonic() < end; first = heap[0]) {
      pop(heap);
      if (current.get(first.key) !== first) continue;
      current.delete(first.key);
      due(first.key, first.value);
    }
    arm();
  }

  return {
    add(key, ms, value) {
      const at = clock.monotonic() + ms;
      const known = current.get(key);
      if (known) value = merge(known.value, value);
      if (known && known.at <= at) {
        known.value = value;
        return;
      }
      const entry = { key, at, value };
      current.set(key, entry);
      push(heap, entry);
      if (heap[0] === entry) arm();
    },
    remove(key) {
      if (!current.delete(key) || heap.length <= 2 * current.size + SPARE) return;
      heap.length = 0;
      for (const entry of current.values()) push(heap, entry);
    },
    clear() {
      current.clear();
      heap.length = 0;
      cancel?.();
      cancel = undefined;
    },
    get size() {
      return current.size;
    },
  };
}

function push<T>(heap: Entry<T>[], entry: Entry<T>): void {
  let index = heap.length;
  while (index > 0) {
    const above = (index - 1) >> 1;
    const parent = heap[above];
    if (!parent || parent.at <= entry.at) break;
    heap[index] = parent;
    index = above;
  }
  heap[index] = entry;
}

/** Removes the first entry. */
function pop<T>(heap: Entry<T>[]): void {
  const last = heap.pop();
  if (!last || heap.length === 0) return;
  let index = 0;
  for (;;) {
    const left = 2 * index + 1;
    const [a, b] = [heap[left], heap[left + 1]];
    const child = a && b && b.at < a.at ? left + 1 : left;
    const entry = heap[child];
    if (!entry || entry.at >= last.at) break;
    heap[index] = entry;
    index = child;
  }
  heap[index] = last;
}
