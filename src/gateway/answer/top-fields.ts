import { unlessThrown } from "../../runtime/unless-thrown.ts";

/** A longer name or value is not kept. */
const LONGEST = 16_384;

/** Some fields at the top level of a JSON object that comes in pieces. */
export interface TopFields {
  /** Takes the next piece, with one character for each byte. */
  push(text: string): void;
  /** The JSON of a field; undefined if the field is absent, empty if it is there twice, too long, or not complete. */
  get(name: string): string | undefined;
  /** The object is complete, and nothing follows it. */
  isWhole(): boolean;
}

/**
 * Reads the named fields and skips all others, so an object of any size takes little memory. Names may have escapes.
 * Each character is read once, whatever it is.
 */
export function createTopFields(names: readonly string[]): TopFields {
  const found = new Map<string, string>();
  let level = 0;
  let isString = false;
  let isEscaped = false;
  let isValue = false;
  let isOver = false;
  let isBroken = false;
  let name: string | undefined;
  /** The name or value at the top level so far; undefined if it is skipped. */
  let part: string | undefined;

  function keep(piece: string): void {
    if (part !== undefined) part = part.length + piece.length > LONGEST ? undefined : part + piece;
  }

  function endName(): void {
    const read = nameIn(part);
    name = read !== undefined && names.includes(read) ? read : undefined;
    part = undefined;
  }

  function beginValue(): void {
    isValue = true;
    if (name === undefined) return;
    part = found.has(name) ? undefined : "";
    found.set(name, "");
  }

  function endValue(): void {
    if (name !== undefined && part !== undefined) found.set(name, part);
    isValue = false;
    name = undefined;
    part = undefined;
  }

  function open(bracket: string): void {
    isBroken ||= level === 0 && (isOver || bracket !== "{");
    level += 1;
  }

  function close(bracket: string): void {
    level -= 1;
    isOver = level === 0;
    isBroken ||= level < 0 || (isOver && bracket !== "}");
  }

  /** Takes a character outside of strings. Returns where the current name or value begins in the text. */
  function take(text: string, at: number, from: number): number {
    const each = text[at] ?? "";
    if (each === ":" && level === 1 && !isValue) {
      beginValue();
      return at + 1;
    }
    if (each === '"') {
      isString = true;
      isBroken ||= level === 0;
      if (level !== 1 || isValue) return from;
      part = "";
      return at;
    }
    const isClosing = each === "}" || each === "]";
    if (level === 1 && (isClosing || each === ",")) {
      keep(text.slice(from, at));
      endValue();
    }
    if (isClosing) close(each);
    else if (each === "{" || each === "[") open(each);
    else isBroken ||= level === 0 && !" \t\r\n".includes(each);
    return from;
  }

  return {
    push(text) {
      let from = 0;
      for (let at = 0; at < text.length && !isBroken; at += 1) {
        if (isString) {
          const end = endOfString(text, isEscaped ? at + 1 : at);
          isString = end.isOpen;
          isEscaped = end.isEscaped;
          at = end.at;
          if (isString || level !== 1 || isValue) continue;
          keep(text.slice(from, at + 1));
          endName();
        } else {
          if (level > 0) at = nextOf(level === 1 ? atTop : deeper, text, at);
          from = take(text, at, from);
        }
      }
      keep(text.slice(from));
    },
    get: (field) => found.get(field),
    isWhole: () => isOver && !isBroken,
  };
}

function nameIn(text: string | undefined): string | undefined {
  if (text?.includes("\\") === false) return text.slice(1, -1);
  return unlessThrown(() => String(JSON.parse(text ?? "")));
}

/** The characters that matter at the top level, and within its values. */
const atTop = /["[\]{},:]/g;
const deeper = /["[\]{}]/g;

/** The place of the next character that a pattern finds. */
function nextOf(pattern: RegExp, text: string, at: number): number {
  // Many of them in a row take long with a pattern.
  if ('"[]{}'.includes(text[at] ?? "")) return at;
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex - 1 : text.length;
}

/** Where a string ends: at a quote after an even number of backslashes, or in a later piece. */
function endOfString(text: string, begin: number): { at: number; isOpen: boolean; isEscaped: boolean } {
  const isAfterBackslash = (at: number) => {
    let first = at;
    while (first > begin && text[first - 1] === "\\") first -= 1;
    return (at - first) % 2 === 1;
  };
  let at = text.indexOf('"', begin);
  while (at >= 0 && isAfterBackslash(at)) at = text.indexOf('"', at + 1);
  if (at >= 0) return { at, isOpen: false, isEscaped: false };
  return { at: text.length, isOpen: true, isEscaped: isAfterBackslash(text.length) };
}
