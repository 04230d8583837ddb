type Listener = (error: NodeJS.ErrnoException) => void;

const listeners = new Set<Listener>();
let isListening = false;

/**
 * Calls the listener when stdout fails: EPIPE when the reader closed it, as `head` does. If the error comes after the
 * command has ended, EPIPE is ignored, and any other error sets the exit code to 1.
 */
export function onBrokenOutput(listener: Listener): () => void {
  if (!isListening) process.stdout.on("error", report);
  isListening = true;
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function report(error: NodeJS.ErrnoException): void {
  for (const listener of listeners) listener(error);
  if (listeners.size > 0 || error.code === "EPIPE") return;
  console.error(`mooring: ${error.message}`);
  process.exitCode = 1;
}
