import { once } from "node:events";

/** Text on its way out, held back while the other side is slow. */
export interface Output {
  write(text: string): void;
  /** Hands on what was written once there is enough of it; resolves when there is room for more. */
  relax(): Promise<void>;
  /** Hands on the rest. */
  end(): Promise<void>;
}

const ENOUGH = 64 * 1024;

/** Writes to a stream. `broken` is called when nothing can be written any more: EPIPE when the reader has gone, as `head` does. */
export function outputTo(
  stream: NodeJS.WritableStream,
  signal: AbortSignal,
  broken: (error: NodeJS.ErrnoException) => void,
): Output {
  let pending: string[] = [];
  let length = 0;
  stream.on("error", broken);
  const flush = async () => {
    const text = pending.join("");
    pending = [];
    length = 0;
    if (text !== "" && !stream.write(text)) await once(stream, "drain", { signal });
  };
  return {
    write(text) {
      pending.push(text);
      length += text.length;
    },
    async relax() {
      if (length >= ENOUGH) await flush();
    },
    end: flush,
  };
}
