/** A map that drops the least recently used entries when it has more than `limit`. */
export function createLru<V>(limit: number): { get(key: string): V | undefined; set(key: string, value: V): void } {
  const entries = new Map<string, V>();
  function set(key: string, value: V): void {
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
