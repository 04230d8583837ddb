import { broken, tooLarge } from "./series.ts";

/**
 * Undoes Snappy's block format: a length, then literals and copies of what came before. Every step is checked against
 * both ends, so that no input makes it read or write elsewhere or run longer than its own length.
 */
export function uncompressed(input: Uint8Array, most: number): Buffer {
  let position = 0;
  const byte = (): number => {
    const value = input[position];
    if (value === undefined) throw fault("it ends too early");
    position += 1;
    return value;
  };
  const littleEndian = (bytes: number): number => {
    let value = 0;
    for (let index = 0; index < bytes; index += 1) value += byte() * 2 ** (8 * index);
    return value;
  };

  const length = lengthFrom(byte);
  if (length > most) throw tooLarge(most);
  const output = Buffer.alloc(length);
  let filled = 0;
  while (position < input.length) {
    const tag = byte();
    const kind = tag & 3;
    const high = tag >> 2;
    if (kind === 0) {
      const size = 1 + (high < 60 ? high : littleEndian(high - 59));
      if (position + size > input.length || filled + size > length) throw fault("a literal is longer than the rest");
      output.set(input.subarray(position, position + size), filled);
      position += size;
      filled += size;
    } else {
      const size = kind === 1 ? 4 + (high & 7) : 1 + high;
      const offset = kind === 1 ? (tag >> 5) * 256 + byte() : littleEndian(kind === 2 ? 2 : 4);
      if (offset === 0 || offset > filled || filled + size > length) throw fault("a copy points outside the output");
      // Byte by byte: a copy may run into what it is writing.
      for (const end = filled + size; filled < end; filled += 1) output[filled] = output[filled - offset] ?? 0;
    }
  }
  if (filled !== length) throw fault("it is shorter than it says");
  return output;
}

function lengthFrom(byte: () => number): number {
  let length = 0;
  for (let index = 0; index < 5; index += 1) {
    const value = byte();
    length += (value & 0x7f) * 2 ** (7 * index);
    if (value < 0x80) return length;
  }
  throw fault("its length is no 32-bit number");
}

const fault = (why: string) => broken(`the body is not Snappy in block format: ${why}`);
