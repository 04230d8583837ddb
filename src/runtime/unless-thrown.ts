/** What `read` returns; undefined when it throws. For what others wrote: invalid counts as absent. */
export function unlessThrown<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
