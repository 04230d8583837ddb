import { createHash } from "node:crypto";
import type { Window } from "./export.ts";
import { LATE_MS, type Line } from "./progress.ts";
import { addTo, divide, emptySketch, readSketch, writtenSketch } from "./sketch.ts";

/**
 * A batch in delivery. It is recorded before it is sent, so that exactly the same entries are sent again after a crash,
 * even if others arrive late in its period. The record has a fixed size: the entries themselves are read from the log
 * again.
 */
export interface Piece {
  from: number;
  to: number;
  /** Time of the read, by the platform's clock. */
  at: number;
  /** Number of entries in the period at that time. */
  total: number;
  /** Number of entries in the batch. */
  entries: number;
  /** A hash of the ids of the entries, in order. */
  hash: string;
  sketch: string;
}

const hashOf = (lines: readonly Line[]): string =>
  createHash("sha256")
    .update(lines.map(({ id }) => id).join())
    .digest("hex")
    .slice(0, 32);

export function pieceOf({ period, total, lines }: Window, at: number): Piece {
  const sketch = emptySketch("large");
  for (const { id } of lines) addTo(sketch, id);
  return { ...period, at, total, entries: lines.length, hash: hashOf(lines), sketch: writtenSketch(sketch) };
}

/** The entries of a batch, or the reason why they cannot be sent again unchanged. */
export type Again = { lines: Line[] } | "hidden" | "unknown";

/**
 * Finds the entries of a batch among the current ones of its period. `hidden`: the log lacks some of them, which is
 * temporary, because the log may lag behind. `unknown`: that lasts too long, or too many entries arrived late to tell
 * them apart.
 */
export function linesOf(piece: Piece, all: readonly Line[], now: number): Again {
  const { known = [], missing = 0 } = divide(readSketch(piece.sketch, "large"), all) ?? {};
  if (missing > 0 && now - piece.at < LATE_MS) return "hidden";
  return missing === 0 && hashOf(known) === piece.hash ? { lines: known } : "unknown";
}
