import type { ReadStream } from "node:tty";

/**
 * Calls back for keys that are pressed in a terminal. Ctrl-C then arrives as a key and not as a signal, so the caller
 * must handle it.
 */
export function onKey(input: ReadStream, actions: Record<string, () => void>): Disposable {
  if (!input.isTTY) return { [Symbol.dispose]() {} };
  const listen = (text: Buffer) => {
    for (const key of text.toString("utf8")) actions[key]?.();
  };
  input.setRawMode(true);
  input.on("data", listen).resume();
  return {
    [Symbol.dispose]() {
      input.off("data", listen).pause();
      input.setRawMode(false);
    },
  };
}
