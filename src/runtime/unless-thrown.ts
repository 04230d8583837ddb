/** Calls `read`; returns undefined when it throws. For data that others wrote: invalid data counts as absent. */
export function unlessThrown<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
