import { createFieldReader, LINE_END } from "./fields.ts";
import { FIELDS, type FlowRecord } from "./record.ts";
import { visible } from "./visible.ts";

export { LINE_END };

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

const PORTS = 65_535;
const PROTOCOLS = 255;
/** The last second of a year with four digits. */
const LATEST = Date.parse("9999-12-31T23:59:59Z") / 1000;
/** Maximum characters of a bad field in a message. */
const SHOWN = 40;

/** Slots of the texts of a record. They are decoded only when somebody reads them. */
const ACCOUNT = 0;
const INTERFACE = 2;
const SRCADDR = 4;
const DSTADDR = 6;
const SLOTS = 8;

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** Parses single lines strictly: 14 fields, each within its limits. */
export function createLineReader(): LineReader {
  const { begin, next, identifier, address, whole, count, word, text, index, all } = createFieldReader(SLOTS);
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

  return {
    record,
    read(line, from) {
      begin(line, from);
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
      return line[last] === LINE_END ? last : -1;
    },
    problem(to) {
      const fields = all(to);
      const [name, expected] = FIELDS[index()] ?? [];
      if (fields.length !== FIELDS.length || name === undefined) {
        return `${fields.length} fields instead of ${FIELDS.length}`;
      }
      return `${name} "${visible(fields[index()] ?? "", SHOWN)}" is not ${expected}`;
    },
  };
}
