/**
 * A JSON value that is kept as text and parsed when somebody asks for it. Its objects, keys and short texts would take several
 * times as much, and what is kept by the ten thousand is asked for one by one.
 */
export interface LazyJson {
  readonly text: string;
}

/** So many stay parsed at least: what is looked at now is asked for several times, and so is what was read out of it. */
const PARSED = 128;

/**
 * What was packed, which nobody may change. The same object each time while it is one of the last that were asked for, unless
 * its text is longer than `longest`.
 */
export function createLazyJson<T>(longest = Number.POSITIVE_INFINITY) {
  let young = new Map<LazyJson, T>();
  let old = young;
  /** To be told of a value that was just packed: it is at hand. */
  function remember(packed: LazyJson, value: T): T {
    if (packed.text.length <= longest) young.set(packed, value);
    if (young.size >= PARSED) {
      old = young;
      young = new Map();
    }
    return value;
  }
  return {
    remember,
    get(packed: LazyJson): T {
      const known = young.get(packed);
      if (known !== undefined) return known;
      const value: T = old.get(packed) ?? JSON.parse(packed.text);
      return remember(packed, value);
    },
  };
}
