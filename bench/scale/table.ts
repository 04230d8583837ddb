import { type Figure, type FigureName, figureNames, figures, LARGE, type Results } from "./figures.ts";
import type { ContenderName } from "./options.ts";

/** A row of the table, as JSON has it. */
export interface Row extends Figure {
  readonly ratio?: number;
  readonly name: FigureName;
  readonly peer: readonly number[];
  readonly mooring: readonly number[];
  /** Median against median. */
  readonly times?: number;
  readonly met?: boolean;
}

export function rowsOf(results: Results, objects: number): Row[] {
  return figureNames.flatMap((name) => {
    const [peer, mooring] = [results.of("peer", name), results.of("mooring", name)];
    if (peer.length + mooring.length === 0) return [];
    const { ratio: bySize, ...figure } = figures[name];
    const ratio = typeof bySize === "object" ? bySize[objects < LARGE ? "small" : "large"] : bySize;
    const times =
      peer.length > 0 && mooring.length > 0 && median(peer) > 0 ? median(mooring) / median(peer) : undefined;
    const goal = { ...figure, ...(ratio !== undefined && { ratio }) };
    const met = verdict(goal, mooring, times);
    return [
      {
        ...goal,
        name,
        peer,
        mooring,
        ...(times !== undefined && { times }),
        ...(met !== undefined && { met }),
      },
    ];
  });
}

type Goal = Pick<Row, "ratio" | "most" | "unit">;

/** Undefined where nothing is promised, or the other one was not measured. */
function verdict({ ratio, most }: Goal, mooring: readonly number[], times: number | undefined): boolean | undefined {
  if (mooring.length === 0) return undefined;
  if (most !== undefined) return median(mooring) <= most;
  return ratio === undefined || times === undefined ? undefined : times <= ratio;
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] = sorted.length % 2 === 1 ? [sorted[middle], sorted[middle]] : sorted.slice(middle - 1);
  return (low + high) / 2;
}

const digits = (number: number): string => number.toFixed(number >= 100 ? 0 : number >= 10 ? 1 : 2);

/** The median and, of several rounds, the least and the most. */
function formatted(numbers: readonly number[], unit: string): string {
  if (numbers.length === 0) return "–";
  const text = digits(median(numbers)) + (unit === "" ? "" : ` ${unit}`);
  return numbers.length === 1 ? text : `${text} (${digits(Math.min(...numbers))}–${digits(Math.max(...numbers))})`;
}

function goalOf({ ratio, most, unit }: Goal): string {
  if (most !== undefined) return `≤ ${most}${unit === "" ? "" : ` ${unit}`}`;
  return ratio === undefined ? "" : `≤ ${ratio} × peer`;
}

/** As Markdown, so that it can be read and pasted. */
export function tableOf(rows: readonly Row[], contenders: readonly ContenderName[]): string {
  const cells = [
    ["Figure", "Peer", "Mooring", "Ratio", "Goal", ""],
    ...rows.map((row) => [
      row.title,
      formatted(row.peer, row.unit),
      formatted(row.mooring, row.unit),
      row.times === undefined ? "" : digits(row.times),
      goalOf(row),
      row.met === undefined ? "" : row.met ? "met" : "missed",
    ]),
  ].map((line) => line.filter((_, column) => contenders.length > 1 || ![1, 2, 3].includes(column) || shown(column)));
  function shown(column: number): boolean {
    return column === (contenders[0] === "peer" ? 1 : 2);
  }
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  const lines = cells.map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`);
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`;
  return [lines[0], rule, ...lines.slice(1)].join("\n");
}
