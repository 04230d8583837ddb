const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/** How JSON is built. Of what is no JSON it says anything. */
export interface Shape {
  /** Objects and arrays within each other. */
  depth: number;
  /** All objects and arrays. */
  count: number;
}

/**
 * Reads the shape of JSON without reading its values: what is deep does not fit onto the stack of who writes it again, and an
 * empty array of two bytes takes fifty in memory. Ends as soon as a limit is exceeded.
 */
export function shapeOf(bytes: Buffer, most: Readonly<Shape>): Shape {
  let [now, depth, count] = [0, 0, 0];
  for (let at = 0; at < bytes.length && depth <= most.depth && count <= most.count; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (OPENING.has(byte)) {
      now += 1;
      count += 1;
      depth = Math.max(depth, now);
    } else if (CLOSING.has(byte)) now -= 1;
  }
  return { depth, count };
}

/** Where the string that begins at `begin` ends: at a quote after an even number of backslashes. */
function endOfString(bytes: Buffer, begin: number): number {
  for (let at = bytes.indexOf(QUOTE, begin + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let slashes = 0;
    while (bytes[at - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return bytes.length;
}
