/** Maximum length of a text in status. */
const TEXT = 4096;
/**
 * Maximum length of a list in status, in characters of JSON: enough for ten thousand addresses, the largest IP block.
 */
const LIST = 200_000;
/** Maximum number of fields of an object in status. */
const NAMES = 100;

/** External text on one line, without control characters, and truncated. */
export const boundedText = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .slice(0, TEXT)
    .toWellFormed();

/**
 * Limits a value before it goes into a status: too much data from the platform must not produce an object that the API
 * server refuses. Idempotent.
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

/** A hash (FNV-1a) for a text that is too long or too confidential to show. */
export function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
