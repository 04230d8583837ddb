/** The word that was probably meant: one that differs in a few letters, or begins alike. Undefined if none is near. */
export function nearestWord(word: string, words: readonly string[]): string | undefined {
  const candidates = words
    .map((each) => ({ each, apart: isBeginning(word, each) ? 1 : distance(word, each) }))
    .filter(({ each, apart }) => apart <= Math.min(Math.max(2, each.length / 3), word.length - 1));
  return candidates.sort((a, b) => a.apart - b.apart)[0]?.each;
}

const isBeginning = (one: string, other: string): boolean =>
  Math.min(one.length, other.length) >= 4 && (one.startsWith(other) || other.startsWith(one));

/** How many letters have to be added, removed or changed to get from one word to the other. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (let at = 1; at <= other.length; at++) {
      const changed = (row[at - 1] ?? 0) + (letter === other[at - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
