/** Progress and pieces as they are recorded: times as texts. */
import type { Piece } from "./piece.ts";
import type { Progress, Slice } from "./progress.ts";

type WrittenPeriod = Record<"from" | "to", string>;

export interface WrittenProgress {
  time: string;
  hours?: WrittenPeriod | undefined;
  recent?: readonly (Omit<Slice, "from"> & Pick<WrittenPeriod, "from">)[] | undefined;
}

export type WrittenPiece = Omit<Piece, "from" | "to" | "at"> & WrittenPeriod & { at: string };

export const timeText = (at: number): string => new Date(at).toISOString();

export const writtenProgress = ({ time, hours, slices }: Progress): WrittenProgress => ({
  time: timeText(time),
  ...(hours && { hours: { from: timeText(hours.from), to: timeText(hours.to) } }),
  recent: slices.map(({ from, total, sketch }) => ({ from: timeText(from), total, sketch })),
});

export const readProgress = ({ time, hours, recent = [] }: WrittenProgress): Progress => ({
  time: Date.parse(time),
  ...(hours && { hours: { from: Date.parse(hours.from), to: Date.parse(hours.to) } }),
  slices: recent.map(({ from, total, sketch }) => ({ from: Date.parse(from), total, sketch })),
});

export const writtenPiece = (piece: Piece): WrittenPiece => ({
  ...piece,
  from: timeText(piece.from),
  to: timeText(piece.to),
  at: timeText(piece.at),
});

export const readPiece = (written: WrittenPiece): Piece => ({
  ...written,
  from: Date.parse(written.from),
  to: Date.parse(written.to),
  at: Date.parse(written.at),
});
