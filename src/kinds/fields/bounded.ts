/** Longer than any text that somebody reads in a status. */
const TEXT = 4096;
/** So many characters of JSON has a list at most: ten thousand addresses, the largest IP block. */
const LIST = 200_000;
/** More than any kind or contract names. */
const NAMES = 100;

/** Text of others on one line, without what a terminal would obey, and cut where nobody reads on. */
export const boundedText = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .slice(0, TEXT)
    .toWellFormed();

/**
 * What is written into a status, whoever told it: a platform that says too much must not make an object that the API server
 * refuses. Bounding it again changes nothing.
 */
export function bounded(value: unknown): unknown {
  if (typeof value === "string") return boundedText(value);
  if (Array.isArray(value)) {
    let left = LIST;
    return value.map(bounded).filter((each) => {
      left -= JSON.stringify(each)?.length ?? 0;
      return left >= 0;
    });
  }
  if (typeof value !== "object" || value === null) return value;
  const named = Object.entries(value).filter(([name]) => name.length <= 253 && boundedText(name) === name);
  return Object.fromEntries(named.slice(0, NAMES).map(([name, each]) => [name, bounded(each)]));
}
