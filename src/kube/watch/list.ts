import { parseJson } from "../client/json.ts";
import { join } from "./lines.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** A list without its items. */
export interface ListShell {
  metadata?: { resourceVersion?: string };
}

/**
 * Parses a list as it arrives: each element of the top-level array `items` is cut out of the byte stream and parsed alone. So
 * neither the whole text nor the whole document is ever in memory, and no list is too long for a string. Resolves with the
 * document around the items. Rejects when the stream ends early; the error names the `call`.
 */
export async function readList<T>(
  chunks: AsyncIterable<Uint8Array>,
  onItem: (item: T) => void,
  call: string,
): Promise<ListShell> {
  const shell: Uint8Array[] = [];
  let item: Uint8Array[] = [];
  let depth = 0;
  let inString = false;
  let escaped = false;
  let inItems = false;
  /** The start of the latest string directly below the top level: before a `[` it is the key of that array. */
  let key = "";

  const flush = (chunk: Uint8Array, from: number, to: number) => {
    if (to > from) (inItems ? item : shell).push(chunk.subarray(from, to));
  };
  const finish = () => {
    const text = join(item);
    item = [];
    if (text.trim() !== "") onItem(parseJson(text, call));
  };

  for await (const chunk of chunks) {
    let start = 0;
    for (let index = 0; index < chunk.length; index++) {
      const byte = chunk[index];
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inString = false;
        if (depth === 1 && byte !== undefined && key.length < 8) key += String.fromCharCode(byte);
        continue;
      }
      switch (byte) {
        case QUOTE:
          inString = true;
          if (depth === 1) key = '"';
          break;
        case OPEN_ARRAY:
        case OPEN_OBJECT:
          if (byte === OPEN_ARRAY && depth === 1 && key === '"items"') {
            flush(chunk, start, index + 1);
            start = index + 1;
            inItems = true;
          }
          depth++;
          break;
        case CLOSE_ARRAY:
        case CLOSE_OBJECT:
          depth--;
          if (inItems && depth === 1) {
            flush(chunk, start, index);
            finish();
            start = index;
            inItems = false;
          }
          break;
        case COMMA:
          if (inItems && depth === 2) {
            flush(chunk, start, index);
            finish();
            start = index + 1;
          }
          break;
        default:
          break;
      }
    }
    flush(chunk, start, chunk.length);
  }
  return parseJson(join(shell), call);
}
