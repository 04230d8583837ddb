/** The cleanups of the current test file, in the order of registration. Files that share a worker share this list. */
const endings: (() => Promise<unknown>)[] = [];

/** Runs after the last test of the file, before earlier registered cleanups, and even if others fail. */
export function atEnd(end: () => Promise<unknown>): void {
  endings.push(end);
}

export async function endAll(): Promise<void> {
  const failed: unknown[] = [];
  for (const end of endings.splice(0).reverse()) await end().catch((error) => failed.push(error));
  if (failed.length > 0) throw new AggregateError(failed, "not everything has ended");
}
