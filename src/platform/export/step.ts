import { readLate, readPeriod, readWindow, type Window } from "../activity/export.ts";
import { linesOf, type Piece, pieceOf } from "../activity/piece.ts";
import { advanced, dueIn, type Line, nextPeriod, type Progress, reset } from "../activity/progress.ts";
import type { Turn } from "../activity/reading.ts";
import { PlatformError, Retry } from "../answers/errors.ts";
import type { Destination } from "./destination.ts";

/** A piece that the destination has taken, and the progress after it. */
export interface Taken {
  piece: Piece;
  progress: Progress;
  lines: readonly Line[];
}

/** The input of one export step. */
export interface ExportStep {
  progress: Progress;
  /** The piece that is recorded as begun. */
  begun: Piece | undefined;
  /** The last delivery of this process whose record failed, for example because of an edit at the same time. */
  taken: Taken | undefined;
  /** By the platform's clock: up to when the log can be read, and when the current read began. */
  now: number;
  readAt: number;
  /** The platform's time by its Date headers alone. It goes on also while `now` waits for a proof. */
  estimated: number;
  log: Turn;
  to: Destination;
  /** Records the progress, the piece that is about to be delivered, and the delivered entries. Resolves when that is written. */
  record(progress: Progress, more?: { begun?: Piece; delivered?: readonly Line[] }): Promise<void>;
  /** Keeps a delivery in memory until it is recorded. */
  keep(taken: Taken): void;
  /** Records progress without a delivery, if it is worth a write. */
  note(progress: Progress): Promise<void>;
}

/** A window could not be delivered. */
export class NotDelivered extends Error {
  override readonly cause: PlatformError;
  constructor(cause: PlatformError) {
    super(cause.message);
    this.cause = cause;
  }
}

/**
 * Delivers at most one piece: the one recorded as begun, else late entries, else the next window. Returns the milliseconds
 * after which there is more to do. Every piece is recorded before it is sent.
 */
export async function exportNext(step: ExportStep): Promise<number> {
  const { begun, taken, now, readAt, progress, log, to } = step;
  if (begun && taken && isSame(begun, taken.piece)) return recordTaken(step, taken);
  if (begun) return resume(step, begun);
  const { late, slices } = await readLate(log, progress);
  const checked = { ...progress, slices };
  if (late) return begin(step, checked, late);
  const dueMs = dueIn(checked, now);
  if (dueMs > 0) {
    await step.note(checked);
    return Math.max(1000, Math.min(dueMs, 60_000));
  }
  const window = await readWindow(log, nextPeriod(checked), to.most);
  if (window.lines.length > 0) return begin(step, checked, window);
  await step.note(advanced(checked, window, readAt));
  return 0;
}

async function begin(step: ExportStep, progress: Progress, window: Window): Promise<number> {
  const begun = pieceOf(window, step.readAt);
  await step.record(progress, { begun });
  return finish({ ...step, progress }, begun, window.lines);
}

/** Delivers exactly the entries of a piece that was begun before, without those that came late to its period. */
async function resume(step: ExportStep, begun: Piece): Promise<number> {
  const { now, estimated, progress, log } = step;
  const { from, to } = begun;
  const all = await readPeriod(log, { from, to });
  const found = linesOf(begun, all.lines, Math.max(now, estimated));
  if (found === "hidden") throw hidden(begun);
  if (found !== "unknown") return finish(step, begun, found.lines);
  // The whole period is delivered again.
  const slices = from < progress.time ? reset(progress.slices, from) : progress.slices;
  await step.record({ ...progress, slices });
  return 0;
}

function hidden({ from, to }: Piece): Retry {
  const [begin, end] = [from, to].map((at) => new Date(at).toISOString());
  const detail = `the log does not show all entries that it had before, from ${begin} to ${end}`;
  return new Retry({ call: "GET /activitylog/v1/contracts", status: 200, detail }, "no");
}

const isSame = (one: Piece, other: Piece): boolean =>
  one.hash === other.hash && one.from === other.from && one.to === other.to && one.at === other.at;

async function recordTaken({ record }: ExportStep, { progress, lines }: Taken): Promise<number> {
  await record(progress, { delivered: lines });
  return 0;
}

async function finish(step: ExportStep, begun: Piece, lines: Line[]): Promise<number> {
  const { progress, log, to } = step;
  log.check();
  const delivered = { period: { from: begun.from, to: begun.to }, total: begun.total, lines };
  await to.deliver(delivered).catch((error: unknown) => {
    throw error instanceof PlatformError ? new NotDelivered(error) : error;
  });
  const taken = { piece: begun, progress: advanced(progress, delivered, begun.at), lines };
  step.keep(taken);
  return recordTaken(step, taken);
}
