/** The names that have the most pairs of letters in common with the one given, the best first. */
export function nearest(name: string, names: readonly string[], count = 3): string[] {
  const pairs = (text: string) => [...text].map((letter, at) => (letter + (text[at + 1] ?? "")).toLowerCase());
  const given = new Set(pairs(name));
  const likeness = (other: string) => pairs(other).filter((pair) => given.has(pair)).length / other.length;
  return names.toSorted((a, b) => likeness(b) - likeness(a)).slice(0, count);
}
