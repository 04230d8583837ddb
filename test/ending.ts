/** What the test file at hand has to end, in the order in which it was begun. Files that share a worker share this list. */
const endings: (() => Promise<unknown>)[] = [];

/** Is done after the last test of the file, before whatever was registered earlier, and whatever became of the others. */
export function atEnd(end: () => Promise<unknown>): void {
  endings.push(end);
}

export async function endAll(): Promise<void> {
  const failed: unknown[] = [];
  for (const end of endings.splice(0).reverse()) await end().catch((error) => failed.push(error));
  if (failed.length > 0) throw new AggregateError(failed, "not everything has ended");
}
