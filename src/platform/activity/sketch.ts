/**
 * A sketch of a set of entries: of fixed size, however many there are. Of two of them it can be told which few entries one has
 * and the other has not (an invertible Bloom lookup table). So it is enough to know what was delivered.
 */
export type Sketch = Int32Array;

const PARTS = 3;
const CELLS = 16;
/** Of a cell: how many entries are in it, both halves of their ids, and a check that there is only one. */
const WORDS = 4;

export const emptySketch = (): Sketch => new Int32Array(PARTS * CELLS * WORDS);

/** Adds an entry by its id: at least sixteen hex digits of a hash. */
export function addTo(sketch: Sketch, id: string): void {
  toggle(sketch, Number.parseInt(id.slice(0, 8), 16) | 0, Number.parseInt(id.slice(8, 16), 16) | 0, 1);
}

function toggle(sketch: Sketch, high: number, low: number, by: number): void {
  for (let part = 0; part < PARTS; part++) {
    const at = (part * CELLS + ((high >>> (4 * part)) & 15)) * WORDS;
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

/** The first sixteen digits of the ids that came in between; undefined when they are too many to be told. */
export function addedBetween(before: Sketch, after: Sketch): Set<string> | undefined {
  const left = after.map((word, at) => (at % WORDS === 0 ? word - (before[at] ?? 0) : word ^ (before[at] ?? 0)));
  const added = new Set<string>();
  for (let found = true; found; ) {
    found = false;
    for (let at = 0; at < left.length; at += WORDS) {
      const [count = 0, high = 0, low = 0, check = 0] = left.subarray(at, at + WORDS);
      if (Math.abs(count) !== 1 || check !== checkOf(high, low)) continue;
      toggle(left, high, low, -count);
      if (count === 1) added.add(digits(high) + digits(low));
      found = true;
    }
  }
  return left.every((word) => word === 0) ? added : undefined;
}

const digits = (word: number): string => (word >>> 0).toString(16).padStart(8, "0");

/** As text; an empty one is an empty text. */
export const writtenSketch = (sketch: Sketch): string =>
  sketch.every((word) => word === 0)
    ? ""
    : Buffer.from(sketch.buffer, sketch.byteOffset, sketch.byteLength).toString("base64");

/** What is no sketch is an empty one: all that was delivered is then delivered again, should anything come late. */
export function readSketch(text: string): Sketch {
  const bytes = Buffer.from(text, "base64");
  const sketch = emptySketch();
  if (bytes.length === sketch.byteLength) Buffer.from(sketch.buffer).set(bytes);
  return sketch;
}
