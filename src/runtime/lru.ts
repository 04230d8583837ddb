import type { Clock } from "./clock.ts";

/** A map that drops the least recently used entries when it has more than `limit`. */
export function createLru<V, K = string>(limit: number): { get(key: K): V | undefined; set(key: K, value: V): void } {
  const entries = new Map<K, V>();
  function set(key: K, value: V): void {
    entries.delete(key);
    entries.set(key, value);
    for (const oldest of entries.keys()) {
      if (entries.size <= limit) break;
      entries.delete(oldest);
    }
  }
  return {
    set,
    get(key) {
      const value = entries.get(key);
      if (value !== undefined) set(key, value);
      return value;
    },
  };
}

/** This many results are kept. An object goes from its intent to its claim while few others do. */
const RECALLED = 256;
/** Longer texts are not kept: anybody may write an annotation of 256 KiB. */
export const LONGEST_KEPT = 4096;

/** A pure function of text that keeps its latest results: to read a text again costs nothing. Results must not be changed. */
export function recalled<K extends string | undefined, V>(read: (text: K) => V): (text: K) => V {
  const results = createLru<{ value: V }, K>(RECALLED);
  return (text) => {
    const known = results.get(text);
    if (known) return known.value;
    const value = read(text);
    if ((text?.length ?? 0) <= LONGEST_KEPT) results.set(text, { value });
    return value;
  };
}

/** Shares a read: an answer serves all who ask within `ageMs` of its begin. A read that failed is not kept. */
export function shareRecent<T>({ monotonic }: Pick<Clock, "monotonic">, read: () => Promise<T>) {
  let known: { at: number; answer: Promise<T> } | undefined;
  return (ageMs: number): Promise<T> => {
    const at = monotonic();
    if (known && known.at >= at - ageMs) return known.answer;
    const asked = { at, answer: read() };
    known = asked;
    asked.answer.catch(() => {
      if (known === asked) known = undefined;
    });
    return asked.answer;
  };
}

/** A map that drops entries: each time one is set, those that were set more than `keptMs` before. `at` is when that was. */
export function createRecentMap<V extends object>({ monotonic }: Pick<Clock, "monotonic">, keptMs: number) {
  const entries = new Map<string, V & { at: number }>();
  return {
    get: (key: string) => entries.get(key),
    delete: (key: string) => entries.delete(key),
    set(key: string, value: V): void {
      const now = monotonic();
      for (const [each, { at }] of entries) if (now - at > keptMs) entries.delete(each);
      entries.set(key, { ...value, at: now });
    },
  };
}
