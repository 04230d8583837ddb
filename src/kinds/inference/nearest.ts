/** The names with the most letter pairs in common with the given one; best match first. */
export function nearest(name: string, names: readonly string[], count = 3): string[] {
  const pairs = (text: string) => [...text].map((letter, at) => (letter + (text[at + 1] ?? "")).toLowerCase());
  const given = new Set(pairs(name));
  const likeness = (other: string) => pairs(other).filter((pair) => given.has(pair)).length / other.length;
  return names.toSorted((a, b) => likeness(b) - likeness(a)).slice(0, count);
}
