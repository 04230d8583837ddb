/** Whether two JSON values are equal, in any order of their keys. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const mine = Object.entries(a);
  const theirs = new Map(Object.entries(b));
  return (
    mine.length === theirs.size && mine.every(([key, value]) => theirs.has(key) && sameJson(value, theirs.get(key)))
  );
}
