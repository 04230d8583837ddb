/** A pattern that this module cannot make a text for. */
export class UnknownPattern extends Error {}

type Pick = (place: string, count: number) => number;

const letters = "abcdefghijklmnopqrstuvwxyz";
const digits = "0123456789";
const word = `${letters}${letters.toUpperCase()}${digits}_`;
const printable = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).join("");

const classes: Readonly<Record<string, string>> = { d: digits, w: word, s: " " };
const without = (set: string) => [...printable].filter((each) => !set.includes(each)).join("");

/** The letters that an escape stands for. */
function escaped(letter: string): string {
  const known = classes[letter];
  if (known !== undefined) return known;
  const other = classes[letter.toLowerCase()];
  if (other !== undefined) return without(other);
  if (letter === "n") return "\n";
  if (letter === "t") return "\t";
  if (/[a-zA-Z0-9]/.test(letter)) throw new UnknownPattern();
  return letter;
}

/**
 * A text that a regular expression matches. An unbounded repeat comes `more` times above its minimum. Supports groups,
 * alternatives, classes and counts, but no lookaround and no backreference.
 */
export function textFor(pattern: string, more: number, pick: Pick): string {
  let at = 0;
  const next = () => {
    const letter = pattern[at];
    if (letter === undefined) throw new UnknownPattern();
    at += 1;
    return letter;
  };

  function alternatives(): string {
    const all = [sequence()];
    while (pattern[at] === "|") {
      at += 1;
      all.push(sequence());
    }
    return all[pick(`${at}`, all.length)] ?? "";
  }

  function sequence(): string {
    let text = "";
    while (at < pattern.length && pattern[at] !== "|" && pattern[at] !== ")") {
      const from = at;
      const first = atom();
      const { count, length } = repeats(pattern.slice(at), more);
      at += length;
      const end = at;
      let piece = count === 0 ? "" : first;
      for (let nth = 1; nth < count; nth += 1) {
        at = from;
        piece += atom();
      }
      at = end;
      text += piece;
    }
    return text;
  }

  function atom(): string {
    const letter = next();
    if (letter === "^" || letter === "$") return "";
    if (letter === "(") {
      if (pattern[at] === "?" && !pattern.startsWith("?:", at)) throw new UnknownPattern();
      if (pattern[at] === "?") at += 2;
      const inside = alternatives();
      if (next() !== ")") throw new UnknownPattern();
      return inside;
    }
    const set = letter === "[" ? classOf() : letter === "\\" ? escaped(next()) : letter === "." ? letters : letter;
    return set[pick(`${at}`, set.length)] ?? "";
  }

  function classOf(): string {
    const negated = pattern[at] === "^";
    if (negated) at += 1;
    let set = "";
    for (let letter = next(); letter !== "]"; letter = next()) {
      const low = letter === "\\" ? escaped(next()) : letter;
      if (low.length > 1 || pattern[at] !== "-" || pattern[at + 1] === "]") {
        set += low;
        continue;
      }
      at += 1;
      const high = next();
      for (let code = low.charCodeAt(0); code <= high.charCodeAt(0); code += 1) set += String.fromCharCode(code);
    }
    return negated ? without(set) : set;
  }

  const text = alternatives();
  if (at < pattern.length) throw new UnknownPattern();
  return text;
}

/** How often the atom before `rest` repeats, and the length of the quantifier. */
function repeats(rest: string, more: number): { count: number; length: number } {
  const [whole = "", , least, comma, most] = /^([*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(rest) ?? [];
  const { length } = whole;
  if (whole === "") return { count: 1, length };
  if (whole.startsWith("*")) return { count: more, length };
  if (whole.startsWith("+")) return { count: 1 + more, length };
  if (whole.startsWith("?")) return { count: 0, length };
  const low = Number(least);
  if (comma === "") return { count: low, length };
  return { count: Math.min(low + more, most === "" ? Number.POSITIVE_INFINITY : Number(most)), length };
}
