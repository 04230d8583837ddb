import { decode, ExtData } from "@msgpack/msgpack";

/** Input that cannot be read, or that is too large. The message says which. */
export class BrokenInput extends Error {}

/** Strings stay bytes: some of the protocol's are no text. Large numbers stay exact. */
const options = { rawStrings: true, useBigInt64: true };

/**
 * Cuts bytes that arrive in pieces into whole MessagePack values. It decodes only complete values, so that no header
 * can cause an allocation: a value larger than `limit` bytes, or announced as larger, is broken input.
 */
export function createCutter(limit: number) {
  /** Bytes that have arrived and are not cut off yet. */
  let pieces: Uint8Array[] = [];
  let size = 0;
  /** The number of bytes that must have arrived before the next item can be read. */
  let needed = 1;
  /** Bytes of the value that were counted, and items that must still come until it is complete. */
  let read = 0;
  let open = 1;

  return {
    /** Takes a piece and gives the values that it completes. */
    cut(piece: Uint8Array): unknown[] {
      pieces.push(piece);
      size += piece.length;
      if (size < needed) return [];
      let bytes = Buffer.concat(pieces);
      const values: unknown[] = [];
      for (;;) {
        const item = itemAt(bytes, read);
        // Every item that must still come has at least one byte.
        const smallest = item === undefined ? 0 : read + item.length + (open - 1 + item.items);
        if (smallest > limit) throw new BrokenInput(`a message is larger than ${limit} bytes`);
        needed = item === undefined ? bytes.length + 1 : read + item.length;
        if (item === undefined || needed > bytes.length) break;
        read += item.length;
        open += item.items - 1;
        if (open > 0) continue;
        values.push(decoded(bytes.subarray(0, read)));
        bytes = bytes.subarray(read);
        read = 0;
        open = 1;
      }
      pieces = [bytes];
      size = bytes.length;
      return values;
    },
    /** Whether a value has begun and not ended. */
    isIncomplete: () => size > 0,
  };
}

/** All values of a finished sequence. */
export function valuesIn(bytes: Uint8Array): unknown[] {
  const cutter = createCutter(bytes.length);
  const values = cutter.cut(bytes);
  if (cutter.isIncomplete()) throw new BrokenInput("the entries end in the middle of one");
  return values;
}

function decoded(bytes: Uint8Array): unknown {
  try {
    return decode(bytes, options);
  } catch (error) {
    throw new BrokenInput(error instanceof Error ? error.message : String(error));
  }
}

interface Item {
  /** Bytes of the item itself, without the items inside it. */
  length: number;
  /** How many items are inside it. */
  items: number;
}

/** Heads that a length of 1, 2 or 4 bytes follows; then come that many bytes, or items. */
const sized: Readonly<Record<number, { width: 1 | 2 | 4; extra?: number; itemsEach?: 1 | 2 }>> = {
  196: { width: 1 },
  197: { width: 2 },
  198: { width: 4 },
  // Extensions have their type before their bytes.
  199: { width: 1, extra: 1 },
  200: { width: 2, extra: 1 },
  201: { width: 4, extra: 1 },
  217: { width: 1 },
  218: { width: 2 },
  219: { width: 4 },
  220: { width: 2, itemsEach: 1 },
  221: { width: 4, itemsEach: 1 },
  222: { width: 2, itemsEach: 2 },
  223: { width: 4, itemsEach: 2 },
};

/** Bytes after the heads 0xca to 0xd8: numbers, then extensions of a fixed length with their type. */
const fixed = [4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 2, 3, 5, 9, 17];

/** The item whose head is at `at`; undefined while the head is not all there. */
function itemAt(bytes: Buffer, at: number): Item | undefined {
  const head = bytes[at];
  if (head === undefined) return undefined;
  // Small integers, then maps, lists and strings with their length in the head.
  if (head < 0x80 || head >= 0xe0) return { length: 1, items: 0 };
  if (head < 0x90) return { length: 1, items: 2 * (head & 15) };
  if (head < 0xa0) return { length: 1, items: head & 15 };
  if (head < 0xc0) return { length: 1 + (head & 31), items: 0 };
  const form = sized[head];
  if (form === undefined) return { length: 1 + (fixed[head - 0xca] ?? 0), items: 0 };
  const { width, extra = 0, itemsEach = 0 } = form;
  if (at + 1 + width > bytes.length) return undefined;
  const size = bytes.readUIntBE(at + 1, width);
  return { length: 1 + width + (itemsEach === 0 ? size + extra : 0), items: size * itemsEach };
}

export const textOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();

export const dataOf = ({ data }: ExtData) => (typeof data === "function" ? data(0) : data);

/** The deepest nesting of a record. */
const deepest = 100;

/** A decoded value as JSON can hold it. Bytes become text, numbers beyond the exact ones become text too. */
export function plain(value: unknown, depth = 0): unknown {
  if (depth > deepest) throw new BrokenInput(`a record is nested more than ${deepest} times`);
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Uint8Array) return textOf(value);
  if (value instanceof ExtData) return Buffer.from(dataOf(value)).toString("base64");
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (Array.isArray(value)) return value.map((each) => plain(each, depth + 1));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each, depth + 1)]));
}
