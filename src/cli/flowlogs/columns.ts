export interface Column {
  readonly heading: string;
  readonly align: "left" | "right";
  /** Initial width in characters. */
  readonly room?: number;
}

/** Aligns rows below their headings. Columns may grow and never shrink. */
export function createColumns(columns: readonly Column[]): {
  /** Widens the columns for a row. */
  widen(row: readonly string[]): void;
  headings(): string;
  line(row: readonly string[]): string;
} {
  const widths = columns.map(({ heading, room = 0 }) => Math.max(heading.length, room));
  const widen = (row: readonly string[]) => {
    for (let at = 0; at < row.length; at++) widths[at] = Math.max(widths[at] ?? 0, row[at]?.length ?? 0);
  };
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) =>
        columns[at]?.align === "right" ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0),
      )
      .join("  ")
      .trimEnd();
  return { widen, headings: () => line(columns.map(({ heading }) => heading)), line };
}
