/**
 * Limits for answers of an endpoint, which may be broken or malicious. An answer beyond a limit is an error that names
 * it. Real answers stay far below: a page of a thousand servers with disks and NICs has a few MiB, and a page that is
 * too large is read again in smaller pages.
 */
export const limits = {
  /** One answer. */
  answerBytes: 4 * 1024 * 1024,
  /** An answer with everything inside a resource, which its deletion needs. It has no pages. */
  contentsBytes: 16 * 1024 * 1024,
  /** An error answer. It is truncated here, because only its status is needed. */
  refusalBytes: 64 * 1024,
  depth: 64,
  values: 400_000,
  fields: 5_000,
  /** One list, all pages together. */
  pages: 200,
  items: 60_000,
  listBytes: 64 * 1024 * 1024,
  listMs: 60_000,
} as const;

export class LimitExceeded extends Error {
  constructor(words: string) {
    super(words);
    this.name = "LimitExceeded";
  }
}

/** Whether this error, or one of its causes, is a `LimitExceeded`. */
export function exceedsLimit(error: unknown): boolean {
  return error instanceof Error && (error instanceof LimitExceeded || exceedsLimit(error.cause));
}

/** "4 MiB", "64 KiB". */
export function inBytes(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${Math.round(bytes / (1024 * 1024))} MiB` : `${Math.round(bytes / 1024)} KiB`;
}

/** The memory that an answer takes: many small values take far more than their text. */
export const weightOf = (bytes: number, values: number): number => Math.max(bytes, 16 * values);

/** "60,000". */
export const inFigures = (count: number): string => count.toLocaleString("en-US");
