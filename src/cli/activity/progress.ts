import { humanCount } from "../flowlogs/numbers.ts";

const REFRESH_MS = 200;

/** Progress of a long read: one changing line on a terminal, nothing elsewhere. */
export interface Progress {
  show(read: number, total: number | undefined): void;
  /** Removes the line. */
  clear(): void;
}

export function progressTo(
  stream: { isTTY?: boolean | undefined; write(text: string): unknown },
  monotonic: () => number,
): Progress {
  let shownAt = Number.NEGATIVE_INFINITY;
  let isShown = false;
  return {
    show(read, total) {
      const now = monotonic();
      if (stream.isTTY !== true || now - shownAt < REFRESH_MS) return;
      shownAt = now;
      isShown = true;
      const of = total === undefined ? "" : ` of ${humanCount(total)}`;
      stream.write(`\r\x1b[Kreading … ${humanCount(read)}${of} entries`);
    },
    clear() {
      if (isShown) stream.write("\r\x1b[K");
      isShown = false;
    },
  };
}
