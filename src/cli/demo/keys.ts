import type { ReadStream } from "node:tty";

/**
 * Calls back for keys that are pressed in a terminal; elsewhere there are none. Ctrl-C comes as a key then and is no
 * signal: who listens has to handle it.
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
