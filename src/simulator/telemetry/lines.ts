/** One log line. `record` can be written as JSON; `at` is the time that its sender gives. */
export interface Line {
  tag: string;
  /** Milliseconds since the epoch. */
  at: number;
  record: Readonly<Record<string, unknown>>;
}

export const mostLines = 10_000;
export const mostBytes = 16 * 1024 * 1024;
/** How far back queries reach, whatever the retention. */
export const queryWindow = 30 * 86_400_000;

export interface ArrivedLine extends Line {
  pipelineId: string;
}

/** Lines that were sent to a pipeline and not accepted. */
export interface RefusedLines {
  count: number;
  /** Why, of the last one. */
  reason: string | null;
}

export interface LineFilter {
  tag?: string | undefined;
  since?: number | undefined;
  limit?: number | undefined;
}

/** How long lines are kept, in the platform's time and counted from their arrival. */
export interface Retention {
  now(): number;
  /** Milliseconds. */
  keeps(pipelineId: string, tag: string): number;
}

/**
 * The lines of log pipelines: in memory only and bounded. Beyond the bounds the oldest lines are dropped and counted.
 * Lines past their retention are removed.
 */
export interface Lines {
  add(pipelineId: string, lines: readonly Line[]): void;
  /** In order of arrival, as far back as queries reach; with a limit the newest ones. */
  read(
    pipelineId: string,
    filter?: { tag?: string | undefined; since?: number | undefined; limit?: number | undefined },
  ): Line[];
  /** The newest lines of several pipelines by arrival, newest first; the time that senders give does not count. */
  newest(pipelineIds: readonly string[], filter: { tag?: string | undefined; limit: number }): ArrivedLine[];
  /** Notes lines that were not stored. */
  refuse(pipelineId: string, count: number, reason: string): void;
  counts(pipelineId: string): { lines: number; bytes: number; dropped: number; refused: RefusedLines };
  /** Drops the lines past the present retention, before it changes. */
  expire(pipelineId: string): void;
  forget(pipelineId: string): void;
}

/** A line as it is stored: as text, so that `bytes` is close to the memory that it takes. */
interface Kept {
  /** Counts up over all pipelines. */
  order: number;
  tag: string;
  at: number;
  arrivedAt: number;
  text: string;
  bytes: number;
}

/** The lines of one pipeline. */
interface Shelf {
  lines: Kept[];
  bytes: number;
  dropped: number;
  refused: RefusedLines;
}

const emptyShelf = (): Shelf => ({ lines: [], bytes: 0, dropped: 0, refused: { count: 0, reason: null } });

export function createLines(retention: Retention): Lines {
  const shelves = new Map<string, Shelf>();
  let arrived = 0;
  const shelfOf = (pipelineId: string) => {
    const shelf = shelves.get(pipelineId) ?? emptyShelf();
    shelves.set(pipelineId, shelf);
    return shelf;
  };

  /** The lines of a pipeline without those past their retention. */
  function current(pipelineId: string): Shelf {
    const shelf = shelves.get(pipelineId);
    if (shelf === undefined) return emptyShelf();
    const now = retention.now();
    shelf.lines = shelf.lines.filter(({ tag, arrivedAt }) => now - arrivedAt < retention.keeps(pipelineId, tag));
    shelf.bytes = shelf.lines.reduce((sum, { bytes }) => sum + bytes, 0);
    return shelf;
  }

  function chosen(
    pipelineId: string,
    { tag, since = Number.NEGATIVE_INFINITY, limit = mostLines }: LineFilter,
  ): Kept[] {
    const oldest = retention.now() - queryWindow;
    const fits = (line: Kept) =>
      line.arrivedAt >= oldest && (tag === undefined || line.tag === tag) && line.at >= since;
    const found = current(pipelineId).lines.filter(fits);
    return found.slice(Math.max(0, found.length - limit));
  }

  return {
    add(pipelineId, lines) {
      const shelf = shelfOf(pipelineId);
      for (const { tag, at, record } of lines) {
        const text = JSON.stringify(record);
        const bytes = Buffer.byteLength(text);
        arrived += 1;
        shelf.lines.push({ order: arrived, tag, at, arrivedAt: retention.now(), text, bytes });
        shelf.bytes += bytes;
        while (shelf.lines.length > mostLines || shelf.bytes > mostBytes) {
          shelf.bytes -= shelf.lines.shift()?.bytes ?? 0;
          shelf.dropped += 1;
        }
      }
    },
    read: (pipelineId, filter = {}) => chosen(pipelineId, filter).map(lineOf),
    newest: (pipelineIds, filter) =>
      pipelineIds
        .flatMap((pipelineId) => chosen(pipelineId, filter).map((kept) => ({ pipelineId, kept })))
        .sort((a, b) => b.kept.order - a.kept.order)
        .slice(0, filter.limit)
        .map(({ pipelineId, kept }) => ({ pipelineId, ...lineOf(kept) })),
    refuse(pipelineId, count, reason) {
      const { refused } = shelfOf(pipelineId);
      refused.count += count;
      refused.reason = reason;
    },
    counts(pipelineId) {
      const { lines, bytes, dropped, refused } = current(pipelineId);
      return { lines: lines.length, bytes, dropped, refused: { ...refused } };
    },
    expire: (pipelineId) => void current(pipelineId),
    forget: (pipelineId) => void shelves.delete(pipelineId),
  };
}

const lineOf = ({ tag, at, text }: Kept): Line => ({ tag, at, record: JSON.parse(text) });
