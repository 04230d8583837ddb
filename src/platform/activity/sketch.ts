/**
 * A sketch of a set of entries (an invertible Bloom lookup table). Its size is fixed, however many entries it has. Two
 * sketches show which entries are only in one of them, if these are few. So it is enough to record a sketch of the
 * delivered entries.
 */
export type Sketch = Int32Array;

const PARTS = 3;
/** Words of a cell: the number of its entries, both halves of their ids, and a check that there is only one. */
const WORDS = 4;
/** Bits of an id that choose its cell in each part. With more cells, more entries can be told apart. */
const SIZES = { small: 4, large: 6 } as const;
export type SketchSize = keyof typeof SIZES;

/** A small sketch tells about twenty entries apart and takes 768 bytes; a large one about a hundred and 3,072 bytes. */
export const emptySketch = (size: SketchSize = "small"): Sketch => new Int32Array(PARTS * WORDS * 2 ** SIZES[size]);

/** Adds an entry by its id: at least sixteen hex digits of a hash. */
export function addTo(sketch: Sketch, id: string): void {
  toggle(sketch, Number.parseInt(id.slice(0, 8), 16) | 0, Number.parseInt(id.slice(8, 16), 16) | 0, 1);
}

function toggle(sketch: Sketch, high: number, low: number, by: number): void {
  const cells = sketch.length / PARTS / WORDS;
  const bits = Math.log2(cells);
  for (let part = 0; part < PARTS; part++) {
    const at = (part * cells + ((high >>> (bits * part)) & (cells - 1))) * WORDS;
    sketch[at] = (sketch[at] ?? 0) + by;
    sketch[at + 1] = (sketch[at + 1] ?? 0) ^ high;
    sketch[at + 2] = (sketch[at + 2] ?? 0) ^ low;
    sketch[at + 3] = (sketch[at + 3] ?? 0) ^ checkOf(high, low);
  }
}

function checkOf(high: number, low: number): number {
  const mixed = Math.imul(high ^ (low >>> 15), 0x85ebca6b) + Math.imul(low ^ (high >>> 13), 0xc2b2ae35);
  return Math.imul(mixed ^ (mixed >>> 16), 0x27d4eb2f) | 0;
}

/** The first sixteen digits of ids. */
interface Difference {
  added: Set<string>;
  removed: Set<string>;
}

/** The entries that were added and removed between two sketches of one size; undefined if there are too many. */
export function differenceOf(before: Sketch, after: Sketch): Difference | undefined {
  const left = after.map((word, at) => (at % WORDS === 0 ? word - (before[at] ?? 0) : word ^ (before[at] ?? 0)));
  const [added, removed] = [new Set<string>(), new Set<string>()];
  for (let found = true; found; ) {
    found = false;
    for (let at = 0; at < left.length; at += WORDS) {
      const [count = 0, high = 0, low = 0, check = 0] = left.subarray(at, at + WORDS);
      if (Math.abs(count) !== 1 || check !== checkOf(high, low)) continue;
      toggle(left, high, low, -count);
      (count === 1 ? added : removed).add(digits(high) + digits(low));
      found = true;
    }
  }
  return left.every((word) => word === 0) ? { added, removed } : undefined;
}

const digits = (word: number): string => (word >>> 0).toString(16).padStart(8, "0");
const shortOf = (id: string): string => id.slice(0, 16);

/**
 * Divides entries into those that a sketch has and the others. Undefined unless one of the two groups is small.
 * `missing` is the number of further entries in the sketch.
 */
export function divide<T extends { id: string }>(
  sketch: Sketch,
  entries: readonly T[],
): { known: T[]; others: T[]; missing: number } | undefined {
  const all = new Int32Array(sketch.length);
  for (const { id } of entries) addTo(all, id);
  const difference = differenceOf(sketch, all);
  // If too many entries differ, the sketch itself may have so few that all of them can be listed.
  const own = difference ? undefined : differenceOf(new Int32Array(sketch.length), sketch)?.added;
  if (!difference && !own) return undefined;
  const has = ({ id }: T) => (difference ? !difference.added.has(shortOf(id)) : (own?.has(shortOf(id)) ?? false));
  const known = entries.filter(has);
  const missing = difference ? difference.removed.size : (own?.size ?? 0) - known.length;
  return { known, others: entries.filter((entry) => !has(entry)), missing };
}

/** The text form; empty for an empty sketch. */
export const writtenSketch = (sketch: Sketch): string =>
  sketch.every((word) => word === 0)
    ? ""
    : Buffer.from(sketch.buffer, sketch.byteOffset, sketch.byteLength).toString("base64");

/**
 * Reads the text form. Invalid text counts as an empty sketch: then all entries of the period are delivered again if
 * one arrives late.
 */
export function readSketch(text: string, size: SketchSize = "small"): Sketch {
  const bytes = Buffer.from(text, "base64");
  const sketch = emptySketch(size);
  if (bytes.length === sketch.byteLength) Buffer.from(sketch.buffer).set(bytes);
  return sketch;
}
