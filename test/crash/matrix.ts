import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Base, openBase } from "./base.ts";
import { isWrite, type Moment, moments, nameOf, type Position, positionsOf } from "./calls.ts";
import { type Chapter, play, Stuck } from "./life.ts";
import type { Subject } from "./lives.ts";
import { openStage } from "./stage.ts";
import { type Fault, judge, type Problem, type Yardstick, yardstickOf } from "./verdict.ts";

export interface MatrixOptions {
  kubeconfig: string;
  subjects: readonly Subject[];
  /** Only this position, by its number in the matrix, counted from 1. */
  position?: number | undefined;
  moments?: readonly Moment[];
  seed?: number;
  /** How many lives are lived side by side. */
  parallel?: number;
  onProgress?(done: number, total: number, failed: number): void;
}

/** One life in which the operator was killed once. */
export interface Run {
  moment: Moment;
  /** False when the fatal call never came: chance moves reads, and only reads. */
  reached: boolean;
  problems: Problem[];
  seconds: number;
  /** Log of the operator and list of its calls; kept when something is wrong. */
  folder?: string;
}

/** One row of the matrix. */
export interface Row {
  number: number;
  position: Position;
  runs: Run[];
}

export interface Result {
  kinds: { kind: string; rows: Row[] }[];
  totals: Totals;
  seconds: number;
}

export interface Totals {
  runs: number;
  duplicates: number;
  leaks: number;
  lostSecrets: number;
  stuck: number;
  /** Runs whose fatal call never came: of reads, which is chance, and of writes, which must not be. */
  readsNotReached: number;
  writesNotReached: number;
}

const ATTEMPTS = 3;

/** Records the life of every subject, then lives it again for every position and moment, killing the operator there. */
export async function crashMatrix(options: MatrixOptions): Promise<Result> {
  const { subjects, seed = 1, parallel = 5, onProgress = () => {} } = options;
  const startedAt = performance.now();
  await using base = await openBase(options.kubeconfig);
  const recordings = await inParallel(parallel, subjects, (subject) => record(base, subject, seed));
  const plan = recordings.flatMap((recording) => {
    const rows = recording.positions.map((position, index): Row => ({ number: index + 1, position, runs: [] }));
    const chosen = rows.filter(({ number }) => options.position === undefined || number === options.position);
    return [{ ...recording, rows: chosen }];
  });
  const jobs = plan.flatMap((entry) =>
    entry.rows.flatMap((row) => (options.moments ?? moments).map((moment) => ({ ...entry, row, moment }))),
  );
  let done = 0;
  let failed = 0;
  onProgress(done, jobs.length, failed);
  await inParallel(parallel, jobs, async ({ subject, yardstick, row, moment }) => {
    const run = await crash(base, subject, yardstick, { position: row.position, moment, seed });
    row.runs.push(run);
    done += 1;
    if (isBad(row, run)) failed += 1;
    onProgress(done, jobs.length, failed);
  });
  for (const { rows } of plan) {
    for (const { runs } of rows) runs.sort((a, b) => moments.indexOf(a.moment) - moments.indexOf(b.moment));
  }
  const kinds = plan.map(({ subject, rows }) => ({ kind: subject.kind.kind, rows }));
  return { kinds, totals: totalsOf(kinds), seconds: (performance.now() - startedAt) / 1000 };
}

export const isBad = ({ position }: Row, { reached, problems }: Run): boolean =>
  problems.length > 0 || (!reached && isWrite(position));

/** Whether anything happened that must not. */
export const isClean = ({ totals }: Result): boolean =>
  totals.runs > 0 &&
  totals.duplicates + totals.leaks + totals.lostSecrets + totals.stuck + totals.writesNotReached === 0;

interface Recording {
  subject: Subject;
  positions: Position[];
  yardstick: Yardstick;
}

/** A life without any kill: where it can be killed, and what it leaves on the platform. */
async function record(base: Base, subject: Subject, seed: number): Promise<Recording> {
  const { chapters, problems, calls, folder } = await live(base, subject, undefined, { seed });
  if (problems.length > 0) {
    const said = problems.map(({ message }) => message).join("; ");
    throw new Error(`${subject.kind.kind} does not get through its life even undisturbed: ${said} (see ${folder})`);
  }
  const measured = calls.filter(({ phase }) => phase !== "setup");
  return { subject, positions: positionsOf(measured), yardstick: yardstickOf(subject.kind, chapters) };
}

interface Crash {
  position: Position;
  moment: Moment;
  seed: number;
}

async function crash(base: Base, subject: Subject, yardstick: Yardstick, options: Crash): Promise<Run> {
  const { position, moment, seed } = options;
  for (let attempt = 1; ; attempt++) {
    const startedAt = performance.now();
    const { problems, reached, folder } = await live(base, subject, yardstick, { seed, target: { position, moment } });
    // A write that did not come is tried again: a life may differ by a read, and so may what it leads to.
    if (!reached && problems.length === 0 && isWrite(position) && attempt < ATTEMPTS) continue;
    const seconds = (performance.now() - startedAt) / 1000;
    return { moment, reached, problems, seconds, ...(folder && { folder }) };
  }
}

async function live(
  base: Base,
  subject: Subject,
  yardstick: Yardstick | undefined,
  { seed, target }: { seed: number; target?: { position: Position; moment: Moment } },
) {
  await using stage = await openStage(base, { seed, target });
  const chapters: Chapter[] = [];
  const problems: Problem[] = [];
  try {
    for await (const chapter of play(stage, subject, target?.position)) {
      const [first] = chapters;
      if (first) problems.push(...judge(subject.kind, first, chapter, yardstick));
      chapters.push(chapter);
    }
  } catch (error) {
    if (!(error instanceof Stuck)) throw error;
    problems.push({ fault: "stuck", message: error.message });
  }
  const { calls, reached } = stage.recorder;
  const bad = problems.length > 0;
  if (bad) {
    const about = target ? `${subject.kind.kind}, ${target.moment} ${nameOf(target.position)}` : subject.kind.kind;
    await writeFile(join(stage.folder, "calls.jsonl"), calls.map((call) => `${JSON.stringify(call)}\n`).join(""));
    await writeFile(join(stage.folder, "problems.json"), JSON.stringify({ about, problems }, undefined, 2));
    base.keep();
  } else {
    await (target ? stage.operator.kill() : stage.operator.stop());
    await rm(stage.folder, { recursive: true });
  }
  return { chapters, problems, calls, reached, folder: bad ? stage.folder : undefined };
}

const counted: Record<Fault, "duplicates" | "leaks" | "lostSecrets" | "stuck"> = {
  duplicate: "duplicates",
  leak: "leaks",
  "lost secret": "lostSecrets",
  stuck: "stuck",
};

function totalsOf(kinds: Result["kinds"]): Totals {
  const totals: Totals = {
    runs: 0,
    duplicates: 0,
    leaks: 0,
    lostSecrets: 0,
    stuck: 0,
    readsNotReached: 0,
    writesNotReached: 0,
  };
  for (const { position, runs } of kinds.flatMap(({ rows }) => rows)) {
    for (const { reached, problems } of runs) {
      totals.runs += 1;
      if (!reached) totals[isWrite(position) ? "writesNotReached" : "readsNotReached"] += 1;
      for (const fault of new Set(problems.map((problem) => problem.fault))) totals[counted[fault]] += 1;
    }
  }
  return totals;
}

/** Works on all items, at most `width` at a time; the results are in the order of the items. */
async function inParallel<T, R>(width: number, items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const waiting = items.entries();
  const worker = async () => {
    for (const [index, item] of waiting) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}
