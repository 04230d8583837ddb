import { endOfAddress } from "./address.ts";
import { type Count, countOf } from "./count.ts";
import { createTexts, spells } from "./texts.ts";

/** Reads a line field by field, each strictly. Reads almost every byte only once. */
export interface FieldReader {
  /** Begins the line at a position; a line break must follow somewhere. */
  begin(line: Buffer, from: number): void;
  /** Moves to the start of the next field, or to the end of the line. */
  next(): number;
  /** The next field is an identifier. Its place is kept in `slot`. */
  identifier(slot: number): boolean;
  /** The next field is an IP address. Its place is kept in `slot`. */
  address(slot: number): boolean;
  /** The next field as a decimal number without leading zeros; -1 if it is none, or if it exceeds `most`. */
  whole(most: number): number;
  /** The next field as a number of up to 64 bits; -1 if it is none. */
  count(): Count;
  /** The next field, if it is one of two words. */
  word<Word extends string>(one: Word, other: Word): Word | undefined;
  /** The text at the place that is kept in `slot`. */
  text(slot: number): string;
  /** The index of the last field that was read. */
  index(): number;
  /** All fields of the line, which ends at `to`. */
  all(to: number): string[];
}

export const LINE_END = 0x0a;
const SPACE = 0x20;
const ZERO = 0x30;
/** A number of this many digits is always exact. */
const SAFE_DIGITS = 15;

const identifierBytes = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[\w.:-]/.test(String.fromCharCode(byte)) ? 1 : 0,
);

/** A slot is an even number below `size`. */
export function createFieldReader(size: number): FieldReader {
  let buffer: Buffer = Buffer.alloc(0);
  let lineStart = 0;
  // The current field, its start, and the current position.
  let field = 0;
  let fieldStart = 0;
  let at = 0;
  /** The start of the text of each slot, followed by its end. */
  const bounds = new Int32Array(size);
  const textOf = createTexts();

  const next = (): number => {
    while (isSpace(buffer[at] ?? 0)) at++;
    field += 1;
    fieldStart = at;
    return at;
  };
  /** Moves to this position. Whether the field ends there. */
  const endsAt = (place: number): boolean => {
    at = place;
    const byte = buffer[place] ?? 0;
    return isSpace(byte) || byte === LINE_END;
  };
  const identifier = (slot: number): boolean => {
    const from = next();
    let to = from;
    while (identifierBytes[buffer[to] ?? 0] === 1) to++;
    bounds[slot] = from;
    bounds[slot + 1] = to;
    return to > from && endsAt(to);
  };
  const address = (slot: number): boolean => {
    const from = next();
    const to = endOfAddress(buffer, from);
    bounds[slot] = from;
    bounds[slot + 1] = to;
    return to >= 0 && endsAt(to);
  };
  const whole = (most: number): number => {
    const from = next();
    let to = from;
    let value = 0;
    for (let digit = (buffer[to] ?? 0) - ZERO; digit >= 0 && digit <= 9; digit = (buffer[++to] ?? 0) - ZERO) {
      value = value * 10 + digit;
    }
    const formed = to - from === 1 || (to > from && buffer[from] !== ZERO);
    return formed && endsAt(to) && value <= most ? value : -1;
  };
  const count = (): Count => {
    const value = whole(Number.POSITIVE_INFINITY);
    return at - fieldStart <= SAFE_DIGITS || value < 0 ? value : countOf(buffer.toString("latin1", fieldStart, at));
  };
  const word = <Word extends string>(one: Word, other: Word): Word | undefined => {
    const from = next();
    const found = spells(buffer, from, one) ? one : spells(buffer, from, other) ? other : undefined;
    return found !== undefined && endsAt(from + found.length) ? found : undefined;
  };

  return {
    begin(line, from) {
      buffer = line;
      lineStart = at = from;
      field = -1;
    },
    next,
    identifier,
    address,
    whole,
    count,
    word,
    text: (slot) => textOf(buffer, bounds[slot] ?? 0, bounds[slot + 1] ?? 0),
    index: () => field,
    all: (to) => buffer.toString("latin1", lineStart, to).match(/[^ \t\v\f\r]+/g) ?? [],
  };
}

function isSpace(byte: number): boolean {
  return byte === SPACE || (byte <= 0x0d && byte >= 0x09 && byte !== LINE_END);
}
