/** The events of a stream, each with the empty line after it. A line ends with \r\n, \n or \r. */
export const eventsIn = (text: string): string[] => text.split(/(?<=\n\n|[\r\n]\r\n|[\r\n]\r(?!\n))/);

/** The end of the last complete event; 0 if there is none. A \r at the very end may be half of a line end. */
export function endOfEvents(bytes: Buffer): number {
  const ends = ["\n\n", "\r\r", "\n\r"].map((pair) => {
    const isOpen = pair.endsWith("\r") && bytes.subarray(-2).equals(Buffer.from(pair));
    const at = bytes.lastIndexOf(pair, isOpen ? -3 : undefined);
    if (at < 0) return 0;
    return at + (pair.endsWith("\r") && bytes[at + 2] === NEWLINE ? 3 : 2);
  });
  return Math.max(...ends);
}

const NEWLINE = 0x0a;

/** The data of an event. Only these three ends of lines count: others of Unicode may be in the data. */
export const dataOf = (event: string): string =>
  event
    .split(/\r\n|\r|\n/)
    .flatMap((line) => (line.startsWith("data:") ? [line.slice(line[5] === " " ? 6 : 5)] : []))
    .join("\n");
