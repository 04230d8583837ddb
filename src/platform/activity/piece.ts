import { createHash } from "node:crypto";
import type { Window } from "./export.ts";
import { LATE_MS, type Line } from "./progress.ts";
import { addTo, divide, emptySketch, readSketch, writtenSketch } from "./sketch.ts";

/**
 * What is about to be delivered. It is on record before it is sent, so that after a crash exactly the same entries are sent
 * again, whatever has come late to their time. It has a fixed size: the entries themselves are read from the log again.
 */
export interface Piece {
  from: number;
  to: number;
  /** When it was read, by the platform's clock. */
  at: number;
  /** How many entries the platform had of that time. */
  total: number;
  /** How many of them are in the piece. */
  entries: number;
  /** Of the ids of its entries, in their order. */
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

/** The entries of a piece; or why they cannot be sent again as they were. */
export type Again = { lines: Line[] } | "hidden" | "unknown";

/**
 * Finds the entries of a piece among all that its time has now. They are `hidden` when the log does not show some of them, which
 * passes: such a log lags behind. They are `unknown` when that lasts, or when too many came late to tell them apart.
 */
export function linesOf(piece: Piece, all: readonly Line[], now: number): Again {
  const { known = [], missing = 0 } = divide(readSketch(piece.sketch, "large"), all) ?? {};
  if (missing > 0 && now - piece.at < LATE_MS) return "hidden";
  return missing === 0 && hashOf(known) === piece.hash ? { lines: known } : "unknown";
}
