/**
 * How much is taken from an endpoint, which may be broken, or chosen by somebody who means harm. More than that is an error
 * that names the limit. A real answer comes nowhere near: a page of a thousand servers with disks and NICs has a few MiB,
 * and is asked for in smaller pages when it has more.
 */
export const limits = {
  /** Of one answer. */
  answerBytes: 4 * 1024 * 1024,
  /** Of one that shows all that a resource holds: its deletion waits for that, and it has no pages. */
  contentsBytes: 16 * 1024 * 1024,
  /** Of an answer that refuses; its status counts, whatever follows. */
  refusalBytes: 64 * 1024,
  depth: 64,
  values: 400_000,
  fields: 5_000,
  /** Of one list, all its pages together. */
  pages: 200,
  items: 60_000,
  listBytes: 64 * 1024 * 1024,
  listMs: 60_000,
} as const;

/** An answer has more of something than is taken. */
export class LimitExceeded extends Error {
  constructor(words: string) {
    super(words);
    this.name = "LimitExceeded";
  }
}

/** Whether this, or what led to it, is an answer of which too much came. */
export function exceedsLimit(error: unknown): boolean {
  return error instanceof Error && (error instanceof LimitExceeded || exceedsLimit(error.cause));
}

/** "4 MiB", "64 KiB". */
export function inBytes(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${Math.round(bytes / (1024 * 1024))} MiB` : `${Math.round(bytes / 1024)} KiB`;
}

/** What an answer takes in memory: many small values take far more than their text. */
export const weightOf = (bytes: number, values: number): number => Math.max(bytes, 16 * values);

/** "60,000". */
export const inFigures = (count: number): string => count.toLocaleString("en-US");
