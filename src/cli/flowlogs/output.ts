import { once } from "node:events";

/** Buffered text output with backpressure. */
export interface Output {
  write(text: string): void;
  /** Flushes a full buffer; resolves when the stream accepts more. */
  relax(): Promise<void>;
  /** Flushes the rest. */
  end(): Promise<void>;
}

const ENOUGH = 64 * 1024;

/** Writes to a stream. `broken` is called when the stream fails: EPIPE when the reader closed it, as `head` does. */
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
