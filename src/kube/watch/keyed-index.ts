/** A word and its keys. The word is one shared string. A single key, the usual case, needs no Set. */
interface Entry {
  readonly word: string;
  keys: string | Set<string>;
}

/** An index from words to keys, in insertion order. `set` replaces all words of a key. */
export function createIndex() {
  const entries = new Map<string, Entry>();
  const words = new Map<string, Entry | Entry[]>();

  const entriesOf = (key: string): readonly Entry[] => {
    const known = words.get(key) ?? [];
    return Array.isArray(known) ? known : [known];
  };
  function enter(key: string, word: string): Entry {
    const entry = entries.get(word) ?? { word, keys: key };
    entries.set(entry.word, entry);
    if (typeof entry.keys !== "string") entry.keys.add(key);
    else if (entry.keys !== key) entry.keys = new Set([entry.keys, key]);
    return entry;
  }
  function leave(key: string, { word, keys }: Entry): void {
    if (typeof keys !== "string") keys.delete(key);
    if (typeof keys === "string" || keys.size === 0) entries.delete(word);
  }

  return {
    get(word: string): string[] {
      const { keys = [] } = entries.get(word) ?? {};
      return typeof keys === "string" ? [keys] : [...keys];
    },
    wordsOf: (key: string): readonly string[] => entriesOf(key).map(({ word }) => word),
    set(key: string, next: readonly string[]) {
      for (const entry of entriesOf(key)) if (!next.includes(entry.word)) leave(key, entry);
      const entered = next.map((word) => enter(key, word));
      const [only] = entered;
      if (only === undefined) words.delete(key);
      else words.set(key, entered.length === 1 ? only : entered);
    },
    /** The number of words, and of keys with at least one word. */
    get size() {
      return { words: entries.size, keys: words.size };
    },
  };
}
