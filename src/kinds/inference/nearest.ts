/** The share of letter pairs that two similar names have in common. */
const ALIKE = 0.4;

/** The names that resemble the given one, best match first: they have many letter pairs in common, or contain it. */
export function nearest(name: string, names: readonly string[], most = 3): string[] {
  const wanted = name.slice(0, 200).toLowerCase();
  const given = pairsOf(wanted);
  const likeness = (other: string) => {
    const pairs = pairsOf(other.toLowerCase());
    return (2 * [...pairs].filter((pair) => given.has(pair)).length) / (pairs.size + given.size);
  };
  const isPart = (other: string) => wanted.length >= 3 && other.toLowerCase().includes(wanted);
  const alike = names.filter((other) => isPart(other) || likeness(other) >= ALIKE);
  return alike.sort((a, b) => likeness(b) - likeness(a)).slice(0, most);
}

const pairsOf = (text: string): Set<string> => new Set([...text].map((letter, at) => letter + (text[at + 1] ?? "")));
