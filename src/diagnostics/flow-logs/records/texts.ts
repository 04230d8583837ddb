const SLOTS = 2 ** 16;

/** Decodes texts with a cache. Addresses occur many times, and a cached text is several times as fast. */
export function createTexts(): (buffer: Buffer, from: number, to: number) => string {
  const kept = new Array<string>(SLOTS).fill("");
  return (buffer, from, to) => {
    let hash = 0;
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ (buffer[at] ?? 0), 0x01000193);
    const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    const known = kept[slot] ?? "";
    if (known.length === to - from && spells(buffer, from, known)) return known;
    const text = buffer.toString("latin1", from, to);
    kept[slot] = text;
    return text;
  };
}

/** Whether the bytes at a position are this word. */
export function spells(buffer: Buffer, from: number, word: string): boolean {
  for (let at = 0; at < word.length; at++) if (buffer[from + at] !== word.charCodeAt(at)) return false;
  return true;
}
