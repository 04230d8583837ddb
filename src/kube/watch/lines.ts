const NEWLINE = 0x0a;

/**
 * Splits bytes into non-empty lines. A line is decoded as a whole, so a chunk may end inside a character. Its pieces are joined
 * once, so the cost is linear in the length of the line.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  let pieces: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      pieces.push(chunk.subarray(start, end));
      const line = join(pieces);
      if (line !== "") yield line;
      pieces = [];
      start = end + 1;
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
  }
  const rest = join(pieces);
  if (rest !== "") yield rest;
}

/** Decodes bytes that arrived in pieces. */
export function join(pieces: readonly Uint8Array[]): string {
  const [only] = pieces;
  const whole = pieces.length === 1 && only ? only : Buffer.concat(pieces);
  return Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength).toString("utf8");
}
