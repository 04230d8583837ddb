import { type Base, openBase } from "./base.ts";
import { creationIn, isWrite, type Moment, moments, type Position, samePosition, type Target } from "./calls.ts";
import type { Disturbance } from "./disturbance.ts";
import { type AccountKind, inPhase, type Subject } from "./lives/lives.ts";
import { crash, type Recording, type Run, record } from "./run.ts";
import type { Fault } from "./verdict/verdict.ts";

export interface MatrixOptions {
  kubeconfig: string;
  subjects: readonly Subject[];
  /** Only this position, by its number in the matrix from 1. */
  position?: number | undefined;
  moments?: readonly Moment[];
  /** Also kill the process that continues an interrupted write to the platform, at each of its calls until then. */
  twice?: boolean;
  /** Only the creation; the object is deleted as soon as the operator has died. */
  impatient?: boolean;
  seed?: number;
  /**
   * Two operators: the namespace moves from one to the other at each call. The first one is killed only if this says
   * so.
   */
  shards?: Disturbance | undefined;
  /** The source of the version that runs until the first kill. Every life is then an upgrade. */
  former?: string | undefined;
  /** The operator is restarted in another pod instead of the same one. */
  elsewhere?: boolean;
  /** Only at writes to the platform; with a list, in these phases of a life. */
  writes?: boolean | readonly string[];
  /** Only at writes without Events, in lives of creation, the phase of the kill, and deletion. */
  slice?: boolean;
  /** Number of concurrent lives. */
  parallel?: number;
  onProgress?(done: number, total: number, failed: number): void;
  onFailure?(recording: Recording, row: Row, run: Run): void;
}

/** One row of the matrix. */
export interface Row {
  number: number;
  /** The first kill, if there are two. */
  after?: Target;
  position: Position;
  runs: Run[];
}

export interface Result {
  impatient: boolean;
  shards: Disturbance | undefined;
  kinds: { kind: string; account: AccountKind; creationOnly: boolean; rows: Row[] }[];
  totals: Totals;
  seconds: number;
}

export interface Totals {
  runs: number;
  duplicates: number;
  leaks: number;
  lostSecrets: number;
  stuck: number;
  /** Runs whose fatal call never came. Reads vary, and so does everything after a first kill. */
  notReached: number;
  /** Those that are errors: the first kill, at a write. */
  writesNotReached: number;
}

/** A life with the place of the kill. */
interface Job {
  recording: Recording;
  row: Row;
  moment: Moment;
}

export const PARALLEL = 6;

/** Records the life of every subject, then repeats it for every position and moment, and kills the operator there. */
export async function crashMatrix(options: MatrixOptions): Promise<Result> {
  const { subjects, seed = 1, shards, parallel = PARALLEL, impatient = false, onProgress = () => {} } = options;
  const startedAt = performance.now();
  await using base = await openBase(options.kubeconfig, options);
  const recordings = await inParallel(parallel, subjects, (subject) =>
    options.writes || subject.creationOnly
      ? record(base, subject, { seed, shards })
      : recordTwice(base, subject, { seed, shards }),
  );
  const chapters = recordings.map((recording) => {
    const rows = recording.positions.map((position, index): Row => ({ number: index + 1, position, runs: [] }));
    const creation = creationIn(recording.positions);
    const chosen = rows
      .filter(({ number }) => number === (options.position ?? number))
      .filter(({ position }) => !options.writes || (position.side === "platform" && isWrite(position)))
      .filter(({ position }) => !Array.isArray(options.writes) || options.writes.includes(position.phase))
      .filter(({ position }) => !options.slice || (isWrite(position) && position.route !== "events"))
      .filter(({ position }) => !impatient || position.phase === "create")
      .filter(({ position }) => !recording.subject.creationOnly || position === creation);
    return { recording, rows: chosen };
  });
  const chosen = options.moments ?? moments;
  const jobsOf = (recording: Recording, rows: readonly Row[]): Job[] =>
    rows.flatMap((row) => chosen.map((moment) => ({ recording, row, moment })));

  let done = 0;
  let total = 0;
  let failed = 0;
  async function work(jobs: readonly Job[]): Promise<void> {
    total += jobs.length;
    onProgress(done, total, failed);
    await inParallel(parallel, jobs, async ({ recording, row, moment }) => {
      const target = { position: row.position, moment };
      const targets: [Target, ...Target[]] = row.after ? [row.after, target] : [target];
      const lived = options.slice
        ? { ...recording, subject: inPhase(recording.subject, row.position.phase) }
        : recording;
      const { run, aftermath } = await crash(base, lived, { targets, seed, impatient, shards });
      row.runs.push(run);
      done += 1;
      if (isBad(row, run)) {
        failed += 1;
        options.onFailure?.(recording, row, run);
      }
      if (options.twice && !row.after && leavesDoubt(target)) {
        const { rows = [] } = chapters.find((each) => each.recording === recording) ?? {};
        rows.push(...aftermath.map((position) => ({ number: row.number, after: target, position, runs: [] })));
      }
      onProgress(done, total, failed);
    });
  }
  await work(chapters.flatMap(({ recording, rows }) => jobsOf(recording, rows)));
  const second = chapters.flatMap(({ recording, rows }) =>
    jobsOf(
      recording,
      rows.filter(({ after }) => after),
    ),
  );
  if (second.length > 0) await work(second);

  for (const { runs } of chapters.flatMap(({ rows }) => rows)) runs.sort(byMoment);
  const kinds = chapters.map(({ recording: { subject }, rows }) => {
    return { kind: subject.kind.kind, account: subject.account, creationOnly: subject.creationOnly ?? false, rows };
  });
  return { impatient, shards, kinds, totals: totalsOf(kinds), seconds: (performance.now() - startedAt) / 1000 };
}

/** Calls that occur only on a busy machine, for example another status message, are not positions. */
async function recordTwice(base: Base, subject: Subject, how: Parameters<typeof record>[2]): Promise<Recording> {
  const first = await record(base, subject, how);
  const { positions } = await record(base, subject, how);
  return {
    ...first,
    positions: first.positions.filter((each) => positions.some((other) => samePosition(each, other))),
  };
}

const byMoment = (a: Run, b: Run): number => moments.indexOf(a.moment) - moments.indexOf(b.moment);

/** Whether the next process must find out the outcome of a write. */
const leavesDoubt = ({ position, moment }: Target): boolean =>
  position.side === "platform" && isWrite(position) && moment !== "answered";

/** An Account shows how much of the contract was used at its last check: not every life has a check that sees a change. */
const showsUsage = ({ route }: Position): boolean => /accounts\/\{name\}\/status$/.test(route);

const isMissed = ({ position, after }: Row, { reached }: Run): boolean =>
  !reached && !after && isWrite(position) && !showsUsage(position);

const isBad = (row: Row, run: Run): boolean => run.problems.length > 0 || isMissed(row, run);

/** The faults and their numbers. */
export const faultsOf = ({ totals }: Result) => {
  const { duplicates, leaks, lostSecrets, stuck, writesNotReached } = totals;
  return { duplicates, leaks, lostSecrets, stuck, writesNotReached };
};

/** Whether there is no fault. */
export const isClean = (result: Result): boolean =>
  result.totals.runs > 0 && Object.values(faultsOf(result)).every((count) => count === 0);

const counted: Record<Fault, "duplicates" | "leaks" | "lostSecrets" | "stuck"> = {
  duplicate: "duplicates",
  leak: "leaks",
  "lost secret": "lostSecrets",
  stuck: "stuck",
};

/** A run counts once for each of its faults. */
function totalsOf(kinds: Result["kinds"]): Totals {
  const totals: Totals = {
    runs: 0,
    duplicates: 0,
    leaks: 0,
    lostSecrets: 0,
    stuck: 0,
    notReached: 0,
    writesNotReached: 0,
  };
  for (const row of kinds.flatMap(({ rows }) => rows)) {
    for (const run of row.runs) {
      totals.runs += 1;
      if (!run.reached) totals.notReached += 1;
      if (isMissed(row, run)) totals.writesNotReached += 1;
      for (const fault of new Set(run.problems.map((problem) => problem.fault))) totals[counted[fault]] += 1;
    }
  }
  return totals;
}

/** Processes all items, at most `width` at a time; results are in the order of the items. */
async function inParallel<T, R>(width: number, items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const waiting = items.entries();
  const worker = async () => {
    for (const [index, item] of waiting) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}
