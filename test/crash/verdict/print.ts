import { moments, nameOf, type Target } from "../calls.ts";
import type { Result, Row } from "../matrix.ts";
import { SETTLE_SECONDS } from "../operator.ts";
import type { Run } from "../run.ts";

/** The matrix as text: a row per position, a column per moment, then the failures and the totals. */
export function render(result: Result): string {
  const tables = result.kinds.flatMap(({ kind, account, rows }) => {
    const once = rows.filter(({ after }) => !after);
    const firsts = new Map(rows.flatMap(({ after }) => (after ? [[describe(after), after] as const] : [])));
    const twice = [...firsts.values()].map((first) => {
      const second = rows.filter(({ after }) => after && describe(after) === describe(first));
      return `after ${kind} ${second[0]?.number} ${describe(first)}\n${table(kind, second)}`;
    });
    return [`with ${account}\n${table(kind, once)}`, ...twice];
  });
  return [...tables, ...complaints(result), totals(result)].join("\n\n");
}

const describe = ({ position, moment }: Target): string => `${moment} ${nameOf(position)}`;

function table(kind: string, rows: readonly Row[]): string {
  const lines = rows.map(({ number, after, position, runs }) => {
    const { phase, side, method, route, nth } = position;
    const call = `${method} ${route}${nth > 1 ? ` (${nth})` : ""}`;
    return [after ? "" : String(number), phase, side, call, ...moments.map((moment) => cell(runs, moment))];
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
  const line = (row: string[]) => row.map((text, index) => text.padEnd(widths[index] ?? 0)).join("  ");
  return rows.map((row) => line(row).trimEnd()).join("\n");
}

const stalled = (seconds: number): string =>
  `  note:  the suite, and its platform with it, stood still for ${seconds.toFixed(1)} s: longer than the ${SETTLE_SECONDS} s that the operator allows for`;

/** Every failed run. */
export const complaints = ({ kinds, ...how }: Result): string[] =>
  kinds.flatMap((chapter) =>
    chapter.rows.flatMap((row) =>
      row.runs.filter(({ problems }) => problems.length > 0).map((run) => complaint({ ...how, ...chapter }, row, run)),
    ),
  );

type Where = Pick<Result, "impatient" | "shards"> & Omit<Result["kinds"][number], "rows">;

/** A failed run with its problems, the command to repeat it, and its logs. */
export function complaint({ kind, account, creationOnly, impatient, shards }: Where, row: Row, run: Run): string {
  const { number, after, position } = row;
  const { moment, problems, folder, stalledSeconds } = run;
  const kills = [...(after ? [after] : []), { position, moment }].map(describe);
  const place = creationOnly ? "--creation" : `--position ${number}`;
  const options = after ? `${place} --twice` : `${place} --moment ${moment}`;
  return [
    `${kind} ${number}, ${shards ?? "killed"} ${kills.join(", then ")}`,
    ...problems.map(({ fault, message }) => `  ${fault}: ${message}`),
    ...(stalledSeconds > SETTLE_SECONDS ? [stalled(stalledSeconds)] : []),
    `  again: make crash ARGS="--kind ${kind} --account ${account} ${options}${impatient ? " --impatient" : ""}${shards ? ` --shards ${shards}` : ""}"`,
    `  logs:  ${folder}`,
  ].join("\n");
}

function totals({ totals, seconds }: Result): string {
  const { runs, duplicates, leaks, lostSecrets, stuck, notReached, writesNotReached } = totals;
  const counts = `${duplicates} duplicates, ${leaks} leaks, ${lostSecrets} lost secrets, ${stuck} stuck`;
  return `${runs} runs, ${counts} (${notReached} not reached, ${writesNotReached} of them writes; ${Math.round(seconds)} s)`;
}
