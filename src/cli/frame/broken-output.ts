type Listener = (error: NodeJS.ErrnoException) => void;

const listeners = new Set<Listener>();
let isListening = false;

/**
 * Calls when nothing can be written to stdout any more: EPIPE when the reader has gone, as `head` does. The error may come
 * after the command has ended: a reader that has gone is no failure then either, and anything else is one.
 */
export function onBrokenOutput(listener: Listener): () => void {
  if (!isListening) process.stdout.on("error", tell);
  isListening = true;
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(error: NodeJS.ErrnoException): void {
  for (const listener of listeners) listener(error);
  if (listeners.size > 0 || error.code === "EPIPE") return;
  console.error(`mooring: ${error.message}`);
  process.exitCode = 1;
}
