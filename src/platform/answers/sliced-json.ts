import { inFigures, LimitExceeded, limits } from "./limits.ts";

/** Yields to other work when the time slice is over. */
type Pause = () => Promise<void> | undefined;

/** Characters that are parsed at once: a few milliseconds, even if no two objects are alike. */
const PIECE = 32 * 1024;

interface Parsed {
  readonly body: unknown;
  /** The number of values in the body. */
  readonly values: number;
}

/**
 * `JSON.parse` that never blocks the event loop for long: large text is split and parsed in parts. Rejects with a
 * `SyntaxError`, or with `LimitExceeded` for too deep nesting, too many values or too many fields.
 */
export async function parseInSlices(text: string, pause: Pause, piece = PIECE): Promise<Parsed> {
  let depth = 0;
  let values = 0;
  await walk(text, pause, (mark) => {
    if (mark === CLOSE) depth -= 1;
    else if (mark !== COLON) values += 1;
    if (mark === OPEN) depth += 1;
    if (depth > limits.depth) throw new LimitExceeded(`the answer is nested deeper than ${limits.depth} levels`);
    if (values > limits.values) {
      throw new LimitExceeded(`the answer holds more than ${inFigures(limits.values)} values`);
    }
  });
  return { body: await parse(text.trim(), pause, piece), values };
}

/** A part of an array or object: one large member, or several adjacent small ones. */
interface Part {
  readonly from: number;
  to: number;
  /** The end of the key of a large member. */
  readonly colon?: number;
}

async function parse(text: string, pause: Pause, piece: number): Promise<unknown> {
  const brackets = `${text[0]}${text.at(-1)}`;
  if (text.length <= piece || (brackets !== "[]" && brackets !== "{}")) return JSON.parse(text);
  const isObject = brackets === "{}";
  const entries: [string, unknown][] = [];
  const list: unknown[] = [];
  for (const { from, to, colon } of await split(text, isObject, pause, piece)) {
    const wait = pause();
    if (wait) await wait;
    const isLarge = to - from > piece;
    if (isObject && isLarge) {
      const key: unknown = JSON.parse(text.slice(from, colon));
      if (typeof key !== "string" || colon === undefined) throw new SyntaxError("a key is not a text");
      entries.push([key, await parse(text.slice(colon + 1, to).trim(), pause, piece)]);
    } else if (isObject) entries.push(...Object.entries<unknown>(JSON.parse(`{${text.slice(from, to)}}`)));
    else if (isLarge) list.push(await parse(text.slice(from, to).trim(), pause, piece));
    else for (const value of JSON.parse(`[${text.slice(from, to)}]`)) list.push(value);
  }
  return isObject ? Object.fromEntries(entries) : list;
}

/** Splits an array or object into parts. Rejects empty members, because joined parts would hide a missing one. */
async function split(text: string, isObject: boolean, pause: Pause, piece: number): Promise<Part[]> {
  const parts: Part[] = [];
  if (text.slice(1, -1).trim() === "") return parts;
  let depth = 0;
  let from = 1;
  let colon: number | undefined;
  let members = 0;
  const cut = (to: number) => {
    if (text.slice(from, to).trim() === "") throw new SyntaxError("a member is missing");
    if (isObject && ++members > limits.fields) {
      throw new LimitExceeded(`an object in the answer has more than ${inFigures(limits.fields)} fields`);
    }
    const last = parts.at(-1);
    if (last && to - last.from <= piece) last.to = to;
    else parts.push({ from, to, ...(colon !== undefined && { colon }) });
    from = to + 1;
    colon = undefined;
  };
  await walk(text, pause, (mark, at) => {
    if (mark === OPEN) depth += 1;
    else if (mark === CLOSE) depth -= 1;
    else if (depth === 1 && mark === COMMA) cut(at);
    else if (depth === 1) colon ??= at;
    if (depth === 0 && at < text.length - 1) throw new SyntaxError("something follows the end");
  });
  cut(text.length - 1);
  return parts;
}

const OPEN = 1;
const CLOSE = 2;
const COMMA = 3;
const COLON = 4;
const QUOTE = 5;

/** The meaning of a character outside of strings, by its code. */
const marks = new Uint8Array(128);
for (const [mark, characters] of [
  [OPEN, "{["],
  [CLOSE, "}]"],
  [COMMA, ","],
  [COLON, ":"],
  [QUOTE, '"'],
] as const) {
  for (const character of characters) marks[character.charCodeAt(0)] = mark;
}

/** Calls `onMark` for every mark outside of strings. */
async function walk(text: string, pause: Pause, onMark: (mark: number, at: number) => void): Promise<void> {
  for (let at = 0, next = 0; at < text.length; at++) {
    if (at >= next) {
      next = at + PIECE;
      const wait = pause();
      if (wait) await wait;
    }
    const mark = marks[text.charCodeAt(at)] ?? 0;
    if (mark === QUOTE) at = endOfString(text, at);
    else if (mark !== 0) onMark(mark, at);
  }
}

function endOfString(text: string, quote: number): number {
  for (let at = text.indexOf('"', quote + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let start = at;
    while (text[start - 1] === "\\") start -= 1;
    if ((at - start) % 2 === 0) return at;
  }
  return text.length;
}
