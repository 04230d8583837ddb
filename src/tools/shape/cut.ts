/** Maximum characters of a result: about 20,000 tokens of a model. */
export const MOST_CHARACTERS = 64_000;

type Fields = Record<string, unknown>;

const lengthOf = (value: unknown) => JSON.stringify(value).length;

/** The longest list of a result, which is shortened first. */
function longestList(result: Fields): [string, unknown[]] | undefined {
  const lists = Object.entries(result).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]));
  return lists.sort(([, a], [, b]) => lengthOf(b) - lengthOf(a))[0];
}

/**
 * A result that fits, with a note about the omitted part and how to ask for less; undefined if it cannot be shortened
 * enough.
 */
export function cut(result: Fields, narrow: string, most = MOST_CHARACTERS): Fields | undefined {
  const whole = lengthOf(result);
  if (whole <= most) return result;
  const [name, list] = longestList(result) ?? ["", []];
  const noted = (shown: number): Fields => ({
    ...result,
    [name]: list.slice(0, shown),
    note: `the first ${shown} of ${list.length} ${name} are shown, because the answer is too large; to see less at once, ${narrow}`,
  });
  let left = most - lengthOf(noted(0));
  let shown = 0;
  for (const item of list) {
    left -= lengthOf(item) + 1;
    if (left < 0) break;
    shown += 1;
  }
  return shown === 0 ? undefined : noted(shown);
}
