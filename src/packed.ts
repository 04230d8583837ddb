/**
 * A JSON value that is kept as text and parsed when somebody asks for it. Its objects, keys and short texts would take several
 * times as much, and what is kept by the ten thousand is asked for one by one.
 */
export interface Packed {
  readonly text: string;
}

/** So many are parsed at least: what is looked at now is asked for several times, and what was read out of it is still known. */
const PARSED = 256;

let young = new Map<Packed, unknown>();
let old = young;

/** What was packed. The same object each time, for as long as it is one of the last that were asked for: nobody may change it. */
export function unpack(packed: Packed): unknown {
  const known = young.get(packed);
  if (known !== undefined) return known;
  const value: unknown = old.get(packed) ?? JSON.parse(packed.text);
  remember(packed, value);
  return value;
}

/** What a value is packed as, while the value is at hand. */
export function remember(packed: Packed, value: unknown): void {
  young.set(packed, value);
  if (young.size < PARSED) return;
  old = young;
  young = new Map();
}
