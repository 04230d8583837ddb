import type { Clock } from "../../runtime/clock.ts";
import { SLICE_MS } from "../../runtime/time-slices.ts";

/** A timer for longer than this would fire at once; an early one finds nothing due and is set again. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const SPARE = 64;

interface Entry<T> {
  key: string;
  at: number;
  value: T;
}

export interface Delays<T> {
  /** Makes the key due after `ms`, or earlier if it was to be; the values of both are merged. */
  add(key: string, ms: number, value: T): void;
  /** The key need not become due any more. */
  remove(key: string): void;
  clear(): void;
  readonly size: number;
}

/**
 * Keys that wait for their time: a binary heap and a single timer. An entry that was removed, or overtaken by an earlier one
 * of the same key, stays in the heap and is passed over when its turn comes; the heap is built anew when most of it are such.
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
    // Of very many that are due at once the rest comes with the next timer.
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
