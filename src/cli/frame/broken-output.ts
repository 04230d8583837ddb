type Listener = (error: NodeJS.ErrnoException) => void;

const listeners = new Set<Listener>();
let isListening = false;

/**
 * Calls the listener when stdout fails: EPIPE when the reader closed it, as `head` does. The error may come after the
 * command has ended. A closed reader is not a failure then either; any other error is.
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
