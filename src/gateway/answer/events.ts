/** The events of a stream, each with the empty line after it. */
export const eventsIn = (text: string): string[] => text.split(/(?<=\n\r?\n)/);

/** The data of an event. Only these three ends of lines count: others of Unicode may be in the data. */
export const dataOf = (event: string): string =>
  event
    .split(/\r\n|\r|\n/)
    .flatMap((line) => (line.startsWith("data:") ? [line.slice(line[5] === " " ? 6 : 5)] : []))
    .join("\n");
