const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/** The structure of a JSON text. Without meaning for text that is not JSON. */
export interface Shape {
  /** Maximum nesting of objects and arrays. */
  depth: number;
  /** Number of all objects and arrays. */
  count: number;
}

/**
 * Measures JSON without parsing its values. Deep JSON would overflow the stack when it is serialized again, and an
 * empty array of two bytes takes fifty in memory. Stops as soon as a limit is exceeded.
 */
export function shapeOf(bytes: Buffer, most: Readonly<Shape>): Shape {
  let [level, depth, count] = [0, 0, 0];
  for (let at = 0; at < bytes.length && depth <= most.depth && count <= most.count; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (OPENING.has(byte)) {
      level += 1;
      count += 1;
      depth = Math.max(depth, level);
    } else if (CLOSING.has(byte)) level -= 1;
  }
  return { depth, count };
}

/** The end of the string that begins at `begin`: a quote after an even number of backslashes. */
function endOfString(bytes: Buffer, begin: number): number {
  for (let at = bytes.indexOf(QUOTE, begin + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let slashes = 0;
    while (bytes[at - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return bytes.length;
}
