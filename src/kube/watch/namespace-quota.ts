/**
 * Limits how many objects of a namespace are kept, where any tenant can create some that look like ours. `crowded` is called
 * once for each namespace that has more.
 */
export function createNamespaceQuota(most = Number.POSITIVE_INFINITY, crowded: (namespace: string) => void) {
  const namespaces = new Map<string, Set<string>>();
  const reported = new Set<string>();
  const namespaceOf = (key: string) => key.slice(0, key.indexOf("/"));
  return {
    admit(key: string): boolean {
      const inside = namespaces.get(namespaceOf(key)) ?? new Set();
      if (inside.has(key)) return true;
      if (inside.size >= most) {
        if (!reported.has(namespaceOf(key))) crowded(namespaceOf(key));
        reported.add(namespaceOf(key));
        return false;
      }
      namespaces.set(namespaceOf(key), inside.add(key));
      return true;
    },
    leave(key: string): void {
      const inside = namespaces.get(namespaceOf(key));
      if (inside?.delete(key) && inside.size === 0) namespaces.delete(namespaceOf(key));
    },
  };
}
