import { inFigures, LimitExceeded, limits } from "./limits.ts";
import { redacted } from "./redacted.ts";
import { withLowerIds } from "./uuids.ts";

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
 *
 * The text is redacted already. What it spells in escapes is redacted after they are parsed. Ids are in lower case.
 */
export async function parseInSlices(
  text: string,
  pause: Pause,
  redact: (text: string) => string,
  piece = PIECE,
): Promise<Parsed> {
  const trimmed = text.trim();
  const clean = (value: unknown, from: string) =>
    withLowerIds(hasEscapes(from) ? redacted(value, redact) : value, from);
  if (trimmed.length <= piece) {
    const body: unknown = JSON.parse(trimmed);
    // Counted first, because that limits the depth.
    const values = count(body, 0);
    return { body: clean(body, trimmed), values };
  }
  const { large, values } = await survey(trimmed, pause, piece);
  const read = (part: string) => clean(JSON.parse(part), part);
  const body = await parse({ text: trimmed, large, pause, piece, read }, 0, trimmed.length);
  return { body, values };
}

/** Whether characters may be written in escapes. Faster than a pattern, for every list is searched. */
const hasEscapes = (text: string): boolean => text.includes("\\u") || text.includes("\\/");

const tooDeep = () => new LimitExceeded(`the answer is nested deeper than ${limits.depth} levels`);

/** The number of values in a parsed text. */
function count(value: unknown, depth: number): number {
  if (typeof value !== "object" || value === null) return 1;
  if (depth === limits.depth) throw tooDeep();
  let values = 1;
  for (const each of Array.isArray(value) ? value : Object.values(value)) values += count(each, depth + 1);
  return values;
}

/** An array or object of more than one piece: where it ends, and the commas between its members. */
interface Container {
  readonly close: number;
  readonly commas: readonly number[];
}

interface Source {
  readonly text: string;
  /** By the position of the bracket that opens it. */
  readonly large: ReadonlyMap<number, Container>;
  readonly pause: Pause;
  readonly piece: number;
  /** Parses and redacts a part. */
  readonly read: (part: string) => unknown;
}

const CLOSING = new Map([
  ["{", "}"],
  ["[", "]"],
]);

/** The value of the text from one position to another. */
async function parse(source: Source, begin: number, end: number): Promise<unknown> {
  const { text, large, piece } = source;
  const from = skipBlanks(text, begin);
  let to = end;
  while (to > from && isBlank(text, to - 1)) to -= 1;
  const closing = CLOSING.get(text[from] ?? "");
  if (to - from <= piece || closing === undefined) return source.read(text.slice(from, to));
  const container = large.get(from);
  // A cut off text is refused without a look at what is there of it.
  if (!container || text[container.close] !== closing) throw new SyntaxError("a bracket is not closed");
  if (container.close !== to - 1) throw new SyntaxError("something follows the end");
  return closing === "}" ? parseFields(source, from, container) : parseList(source, from, container);
}

async function parseList(source: Source, open: number, container: Container): Promise<unknown[]> {
  const list: unknown[] = [];
  for (const { from, to } of partsOf(source, open, container)) {
    const wait = source.pause();
    if (wait) await wait;
    const isLarge = to - from > source.piece;
    const some = isLarge ? [await parse(source, from, to)] : source.read(`[${source.text.slice(from, to)}]`);
    if (Array.isArray(some)) for (const value of some) list.push(value);
  }
  return list;
}

async function parseFields(source: Source, open: number, container: Container): Promise<unknown> {
  const { text, pause, piece } = source;
  if (container.commas.length >= limits.fields)
    throw new LimitExceeded(`an object in the answer has more than ${inFigures(limits.fields)} fields`);
  const fields: [string, unknown][] = [];
  for (const { from, to } of partsOf(source, open, container)) {
    const wait = pause();
    if (wait) await wait;
    if (to - from <= piece) {
      fields.push(...Object.entries(Object(source.read(`{${text.slice(from, to)}}`))));
      continue;
    }
    const colon = text.indexOf(":", endOfString(text, skipBlanks(text, from)));
    const key = source.read(text.slice(from, colon));
    if (typeof key !== "string" || colon < 0) throw new SyntaxError("a key is not a text");
    fields.push([key, await parse(source, colon + 1, to)]);
  }
  return Object.fromEntries(fields);
}

/** One large member, or several adjacent small ones. */
interface Part {
  readonly from: number;
  to: number;
}

/** The members of a container. Throws for an empty one, because joined parts would hide that it is missing. */
function partsOf({ text, piece }: Source, open: number, { close, commas }: Container): Part[] {
  const parts: Part[] = [];
  if (skipBlanks(text, open + 1) === close) return parts;
  let from = open + 1;
  for (const to of [...commas, close]) {
    if (skipBlanks(text, from) === to) throw new SyntaxError("a member is missing");
    const last = parts.at(-1);
    if (last && to - last.from <= piece) last.to = to;
    else parts.push({ from, to });
    from = to + 1;
  }
  return parts;
}

const OPEN = 1;
const CLOSE = 2;
const COMMA = 3;
const QUOTE = 4;

/** The meaning of a character outside of strings, by its code. */
const marks = new Uint8Array(128);
for (const [mark, characters] of [
  [OPEN, "{["],
  [CLOSE, "}]"],
  [COMMA, ","],
  [QUOTE, '"'],
] as const) {
  for (const character of characters) marks[character.charCodeAt(0)] = mark;
}

/** Counts the values of a text and finds its large containers, without parsing it. */
async function survey(
  text: string,
  pause: Pause,
  piece: number,
): Promise<{ large: Map<number, Container>; values: number }> {
  const large = new Map<number, Container>();
  /** The containers around the current position: where each opens, and the number of commas before that. */
  const opened: { at: number; before: number }[] = [];
  /** The commas of these containers, outermost first. */
  const commas: number[] = [];
  let values = 1;
  for (let at = 0, next = 0; at < text.length; at++) {
    if (at >= next) {
      next = at + PIECE;
      const wait = pause();
      if (wait) await wait;
    }
    const mark = marks[text.charCodeAt(at)] ?? 0;
    if (mark === 0) continue;
    if (mark === QUOTE) at = endOfString(text, at);
    else if (mark === CLOSE) {
      const container = opened.pop();
      if (!container) throw new SyntaxError("a bracket closes nothing");
      const own = commas.splice(container.before);
      if (at + 1 - container.at > piece) large.set(container.at, { close: at, commas: own });
    } else {
      values += 1;
      if (values > limits.values) {
        throw new LimitExceeded(`the answer holds more than ${inFigures(limits.values)} values`);
      }
      if (mark === COMMA) commas.push(at);
      else if (opened.push({ at, before: commas.length }) > limits.depth) throw tooDeep();
    }
  }
  return { large, values };
}

const isBlank = (text: string, at: number): boolean => at < text.length && " \t\n\r".includes(text.charAt(at));

/** The first position that is no blank. */
function skipBlanks(text: string, from: number): number {
  let at = from;
  while (isBlank(text, at)) at += 1;
  return at;
}

/** The position of the quote that ends a string, or the length of the text. */
function endOfString(text: string, quote: number): number {
  for (let at = text.indexOf('"', quote + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let start = at;
    while (text[start - 1] === "\\") start -= 1;
    if ((at - start) % 2 === 0) return at;
  }
  return text.length;
}
