import { moments, nameOf } from "./calls.ts";
import type { Result, Row, Run } from "./matrix.ts";

/** The matrix for people: a row per position, a column per moment, then what went wrong, then the totals. */
export function render(result: Result): string {
  return [...result.kinds.map(({ kind, rows }) => table(kind, rows)), ...complaints(result), totals(result)].join(
    "\n\n",
  );
}

function table(kind: string, rows: readonly Row[]): string {
  const lines = rows.map(({ number, position, runs }) => {
    const { phase, side, method, route, nth } = position;
    const call = `${method} ${route}${nth > 1 ? ` (${nth})` : ""}`;
    return [String(number), phase, side, call, ...moments.map((moment) => cell(runs, moment))];
  });
  return columns([[kind, "phase", "side", "call", ...moments], ...lines]);
}

function cell(runs: readonly Run[], moment: string): string {
  const run = runs.find((each) => each.moment === moment);
  if (!run) return "";
  const faults = new Set(run.problems.map(({ fault }) => fault.toUpperCase()));
  if (faults.size > 0) return [...faults].join("+");
  return run.reached ? "ok" : "not reached";
}

function columns(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((text, index) => text.padEnd(widths[index] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Every failed run with what was wrong and where its logs are. */
export function complaints({ kinds }: Result): string[] {
  return kinds.flatMap(({ kind, rows }) =>
    rows.flatMap(({ number, position, runs }) =>
      runs
        .filter(({ problems }) => problems.length > 0)
        .map(({ moment, problems, folder }) =>
          [
            `${kind} ${number}, killed ${moment} ${nameOf(position)}`,
            ...problems.map(({ fault, message }) => `  ${fault}: ${message}`),
            `  again: make crash ARGS="--kind ${kind} --position ${number} --moment ${moment}"`,
            `  logs:  ${folder}`,
          ].join("\n"),
        ),
    ),
  );
}

export function totals({ totals, seconds }: Result): string {
  const { runs, duplicates, leaks, lostSecrets, stuck, readsNotReached, writesNotReached } = totals;
  const missed = `not reached: ${readsNotReached} at reads, ${writesNotReached} at writes`;
  const counts = `${duplicates} duplicates, ${leaks} leaks, ${lostSecrets} lost secrets, ${stuck} stuck`;
  return `${runs} runs, ${counts} (${missed}; ${Math.round(seconds)} s)`;
}
