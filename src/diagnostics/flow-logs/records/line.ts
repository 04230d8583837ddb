import { endOfAddress } from "./address.ts";
import { type Count, countOf } from "./count.ts";
import { FIELDS, type FlowRecord } from "./record.ts";
import { createTexts, spells } from "./texts.ts";
import { visible } from "./visible.ts";

export interface LineReader {
  /** The record of the last line. */
  readonly record: FlowRecord;
  /**
   * Parses the line at a position; a line break must follow somewhere. Returns the position of that line break, or -1
   * if the line is not a record: then `record` has no meaning.
   */
  read(line: Buffer, from: number): number;
  /** The reason why the line of the last `read`, which ends at `to`, is not a record. */
  problem(to: number): string;
}

export const LINE_END = 0x0a;
const SPACE = 0x20;
const ZERO = 0x30;
const PORTS = 65_535;
const PROTOCOLS = 255;
/** A number of this many digits is always exact. */
const SAFE_DIGITS = 15;
/** The last second of a year with four digits. */
const LATEST = Date.parse("9999-12-31T23:59:59Z") / 1000;
/** Maximum characters of a bad field in a message. */
const SHOWN = 40;

/** Offsets of each text of a record: its start, followed by its end. */
const ACCOUNT = 0;
const INTERFACE = 2;
const SRCADDR = 4;
const DSTADDR = 6;

const identifierBytes = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[\w.:-]/.test(String.fromCharCode(byte)) ? 1 : 0,
);

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** Parses single lines strictly: 14 fields, each within its limits. Reads almost every byte only once. */
export function createLineReader(): LineReader {
  let buffer: Buffer = Buffer.alloc(0);
  let lineStart = 0;
  // The current field, its start, and the current position.
  let field = 0;
  let fieldStart = 0;
  let at = 0;
  const bounds = new Int32Array(8);
  const textOf = createTexts();
  const text = (slot: number) => textOf(buffer, bounds[slot] ?? 0, bounds[slot + 1] ?? 0);

  const record: Mutable<FlowRecord> = {
    get account() {
      return text(ACCOUNT);
    },
    get interface() {
      return text(INTERFACE);
    },
    get srcaddr() {
      return text(SRCADDR);
    },
    get dstaddr() {
      return text(DSTADDR);
    },
    srcport: 0,
    dstport: 0,
    protocol: 0,
    packets: 0,
    bytes: 0,
    start: 0,
    end: 0,
    action: "ACCEPT",
    status: "OK",
  };

  /** Moves to the start of the next field. */
  const next = (): number => {
    while (isSpace(buffer[at] ?? 0)) at++;
    field += 1;
    fieldStart = at;
    return at;
  };
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
  /** A decimal number without leading zeros; -1 if there is none, or if it exceeds `most`. */
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
  /** The next field, if it is one of two words. */
  const word = <Word extends string>(one: Word, other: Word): Word | undefined => {
    const from = next();
    const found = spells(buffer, from, one) ? one : spells(buffer, from, other) ? other : undefined;
    return found !== undefined && endsAt(from + found.length) ? found : undefined;
  };

  return {
    record,
    read(line, from) {
      buffer = line;
      lineStart = at = from;
      field = -1;
      if (word("2", "2") === undefined) return -1;
      if (!identifier(ACCOUNT) || !identifier(INTERFACE) || !address(SRCADDR) || !address(DSTADDR)) return -1;
      record.srcport = whole(PORTS);
      if (record.srcport < 0) return -1;
      record.dstport = whole(PORTS);
      if (record.dstport < 0) return -1;
      record.protocol = whole(PROTOCOLS);
      if (record.protocol < 0) return -1;
      record.packets = count();
      if (record.packets < 0) return -1;
      record.bytes = count();
      if (record.bytes < 0) return -1;
      record.start = whole(LATEST);
      if (record.start < 0) return -1;
      record.end = whole(LATEST);
      if (record.end < record.start) return -1;
      const action = word("ACCEPT", "REJECT");
      if (action === undefined) return -1;
      record.action = action;
      const status = word("OK", "SKIPDATA");
      if (status === undefined) return -1;
      record.status = status;
      const last = next();
      return buffer[last] === LINE_END ? last : -1;
    },
    problem(to) {
      const fields = buffer.toString("latin1", lineStart, to).match(/[^ \t\v\f\r]+/g) ?? [];
      const [name, expected] = FIELDS[field] ?? [];
      if (fields.length !== FIELDS.length || name === undefined) {
        return `${fields.length} fields instead of ${FIELDS.length}`;
      }
      return `${name} "${visible(fields[field] ?? "", SHOWN)}" is not ${expected}`;
    },
  };
}

function isSpace(byte: number): boolean {
  return byte === SPACE || (byte <= 0x0d && byte >= 0x09 && byte !== LINE_END);
}
