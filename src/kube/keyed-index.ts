/** Which keys stand under which words, in the order they came; a key's words are replaced as a whole. */
export function createIndex() {
  const words = new Map<string, string[]>();
  const keys = new Map<string, Set<string>>();
  return {
    get: (word: string): string[] => [...(keys.get(word) ?? [])],
    wordsOf: (key: string): readonly string[] => words.get(key) ?? [],
    set(key: string, next: string[]) {
      for (const word of words.get(key) ?? []) {
        if (next.includes(word)) continue;
        const set = keys.get(word);
        set?.delete(key);
        if (set?.size === 0) keys.delete(word);
      }
      if (next.length > 0) words.set(key, next);
      else words.delete(key);
      for (const word of next) keys.set(word, (keys.get(word) ?? new Set()).add(key));
    },
  };
}
