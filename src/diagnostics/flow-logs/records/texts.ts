const SLOTS = 2 ** 16;

/**
 * Makes texts of bytes. Texts that come again and again, as addresses do, are kept and mostly not made anew, which is
 * several times as fast.
 */
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

/** Whether the bytes from a place on are this word. */
export function spells(buffer: Buffer, from: number, word: string): boolean {
  for (let at = 0; at < word.length; at++) if (buffer[from + at] !== word.charCodeAt(at)) return false;
  return true;
}
