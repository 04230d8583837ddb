/** An object of a landscape, as it was seen. Times are milliseconds. */
export interface Seen {
  readonly name: string;
  /** The names of the objects that it refers to. */
  readonly after: readonly string[];
  /** Its writes on the platform until it was Ready, oldest first. */
  readonly work: readonly { readonly begin: number; readonly end: number }[];
  readonly readyAt: number;
}

/**
 * How long the platform alone needs for a landscape: each object begins when the last one that it refers to has ended, and
 * its own writes follow each other without a pause. Returns the names on the longest way as well.
 */
export function criticalPath(landscape: readonly Seen[]): { ms: number; names: string[] } {
  const byName = new Map(landscape.map((each) => [each.name, each]));
  const known = new Map<string, { ms: number; names: string[] }>();
  const dispatcherTo = (name: string): { ms: number; names: string[] } => {
    const object = byName.get(name);
    const found = known.get(name);
    if (found || !object) return found ?? { ms: 0, names: [] };
    const before = object.after.map(dispatcherTo).reduce((a, b) => (b.ms > a.ms ? b : a), { ms: 0, names: [] });
    const own = object.work.reduce((sum, { begin, end }) => sum + end - begin, 0);
    const way = { ms: before.ms + own, names: [...before.names, name] };
    known.set(name, way);
    return way;
  };
  return landscape.map(({ name }) => dispatcherTo(name)).reduce((a, b) => (b.ms > a.ms ? b : a), { ms: 0, names: [] });
}

/** From the end of an object's last write to Ready. The log of some products has no end: such a write is left out. */
export const doneToReady = (landscape: readonly Seen[]): number[] =>
  landscape.flatMap(({ work, readyAt }) => {
    const last = work.at(-1);
    return last && last.end > last.begin ? [readyAt - last.end] : [];
  });

/** From Ready of the last object that it refers to, to its first write. */
export function readyToNext(landscape: readonly Seen[]): number[] {
  const readyAt = new Map(landscape.map((each) => [each.name, each.readyAt]));
  return landscape.flatMap(({ after, work: [first] }) => {
    const known = after.flatMap((name) => readyAt.get(name) ?? []);
    return first && known.length > 0 ? [first.begin - Math.max(...known)] : [];
  });
}

/** The value below which this share of all values is; the largest for one value. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
