/**
 * A JSON value that is kept as text and parsed on use. Parsed objects take several times the memory, and of ten thousands of
 * kept values only a few are used at a time.
 */
export interface LazyJson {
  readonly text: string;
}

/** At least this many values stay parsed: one reconcile reads the same value, and what is memoized on it, several times. */
const PARSED = 128;

/**
 * A cache of parsed values. `get` returns the parsed value, which must not be changed. Recently used values are the same object
 * each time, unless their text has more than `longest` bytes.
 */
export function createLazyJson<T>(longest = Number.POSITIVE_INFINITY) {
  let young = new Map<LazyJson, T>();
  let old = young;
  /** Caches a value that was just packed, so that it need not be parsed. */
  function remember(lazy: LazyJson, value: T): T {
    const isKept = longest === Number.POSITIVE_INFINITY || Buffer.byteLength(lazy.text) <= longest;
    if (isKept) young.set(lazy, value);
    if (young.size >= PARSED) {
      old = young;
      young = new Map();
    }
    return value;
  }
  return {
    remember,
    get(lazy: LazyJson): T {
      const known = young.get(lazy);
      if (known !== undefined) return known;
      const value: T = old.get(lazy) ?? JSON.parse(lazy.text);
      return remember(lazy, value);
    },
  };
}
