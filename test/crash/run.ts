import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { keepFile } from "../run/kept-output.ts";
import type { Base } from "./base.ts";
import {
  isCertain,
  isWrite,
  LABEL,
  labelRoute,
  type Moment,
  nameOf,
  type Position,
  positionsOf,
  type Target,
} from "./calls.ts";
import type { Disturbance } from "./disturbance.ts";
import { type Chapter, type Course, play, Stuck } from "./lives/life.ts";
import type { Subject } from "./lives/lives.ts";
import type { Call } from "./recorder.ts";
import { openStage } from "./stage.ts";
import { judge, type Problem, type Yardstick, yardstickOf } from "./verdict/verdict.ts";

/** A life without a kill: its positions, and its result on the platform. */
export interface Recording {
  subject: Subject;
  positions: Position[];
  yardstick: Yardstick;
}

/** One life in which the operator was killed. */
export interface Run {
  moment: Moment;
  /** False if a fatal call never came. That is possible only for reads. */
  reached: boolean;
  problems: Problem[];
  seconds: number;
  /** The longest time for which this process, and the platform in it, was stalled. */
  stalledSeconds: number;
  /** Log of the operator and list of its calls; kept after a failure. */
  folder?: string;
}

const ATTEMPTS = 3;

export async function record(
  base: Base,
  subject: Subject,
  { seed, shards }: Pick<Script, "seed" | "shards">,
): Promise<Recording> {
  const script = { subject, seed, shards, targets: [], impatient: false };
  const { chapters, problems, calls, folder } = await live(base, script);
  if (problems.length > 0) {
    const said = problems.map(({ message }) => message).join("; ");
    throw new Error(`${subject.kind.kind} does not get through its life even undisturbed: ${said} (see ${folder})`);
  }
  const label = labelRoute(subject.kind);
  const measured = calls.filter((each) => each.phase !== "setup" && isCertain(each, label));
  // The platform has each label once, and refuses it a second time.
  const refused = calls.find((each) => each.phase === LABEL && isWrite(each) && (each.status ?? 0) >= 400);
  if (refused)
    throw new Error(`a label of ${subject.kind.kind} is refused with ${refused.status}: is it written twice?`);
  return { subject, positions: positionsOf(measured), yardstick: yardstickOf(chapters) };
}

/**
 * Repeats a recorded life and kills the operator at each of the targets, one process after the other. `aftermath`: the
 * positions of the process after the last kill, in the phase of that kill.
 */
export async function crash(
  base: Base,
  { subject, yardstick }: Recording,
  { targets, ...how }: Pick<Script, "seed" | "impatient" | "shards"> & { targets: readonly [Target, ...Target[]] },
): Promise<{ run: Run; aftermath: Position[] }> {
  const { position, moment } = targets.at(-1) ?? targets[0];
  for (let attempt = 1; ; attempt++) {
    const startedAt = performance.now();
    const life = await live(base, { subject, yardstick, targets, ...how });
    const { problems, calls, reached, stalledSeconds, folder } = life;
    // If a write did not come, the life is repeated: it may differ by a read, and by everything after that.
    if (!reached && problems.length === 0 && isWrite(position) && attempt < ATTEMPTS) continue;
    const seconds = (performance.now() - startedAt) / 1000;
    const following = calls.filter(({ phase, process }) => phase === position.phase && process > targets.length);
    return {
      run: { moment, reached, problems, seconds, stalledSeconds, ...(folder !== undefined && { folder }) },
      aftermath: positionsOf(following),
    };
  }
}

interface Script extends Course {
  subject: Subject;
  yardstick?: Yardstick;
  seed: number;
  /** The disturbance at the targets instead of a kill. */
  shards?: Disturbance | undefined;
}

async function live(base: Base, { subject, yardstick, seed, shards, ...course }: Script) {
  const { targets } = course;
  await using stage = await openStage(base, { seed, account: subject.account, targets, shards });
  const chapters: Chapter[] = [];
  const problems: Problem[] = [];
  const stalls = watchStalls();
  try {
    for await (const chapter of play(stage, subject, course)) {
      const [first] = chapters;
      if (first) problems.push(...judge(subject.kind, first, chapter, yardstick));
      chapters.push(chapter);
    }
  } catch (error) {
    if (!(error instanceof Stuck)) throw error;
    problems.push({ fault: "stuck", message: error.message });
  } finally {
    stalls.end();
  }
  const { calls, reached } = stage.recorder;
  const bad = problems.length > 0;
  if (!bad) await (targets.length > 0 ? stage.operator.kill() : stage.operator.stop());
  keepFile("crashed-operator", stage.log);
  if (bad) {
    await report(stage.folder, { kind: subject.kind.kind, targets, problems, calls });
    base.keep();
  } else {
    await rm(stage.folder, { recursive: true });
  }
  return {
    chapters,
    problems,
    calls,
    reached: reached === targets.length,
    stalledSeconds: stalls.longestMs() / 1000,
    folder: bad ? stage.folder : undefined,
  };
}

/** Measures the longest stall of this process. A monitor of Node would stay in memory for every life. */
function watchStalls() {
  let [last, longest] = [performance.now(), 0];
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 100);
  return { end: () => clearInterval(timer), longestMs: () => longest };
}

/** Writes a report beside the operator's log. */
async function report(
  folder: string,
  found: { kind: string; targets: readonly Target[]; problems: Problem[]; calls: readonly Call[] },
): Promise<void> {
  const { kind, targets, problems, calls } = found;
  const killed = targets.map(({ position, moment }) => `${moment} ${nameOf(position)}`);
  await rm(join(folder, "kubeconfig"));
  await writeFile(join(folder, "calls.jsonl"), calls.map((call) => `${JSON.stringify(call)}\n`).join(""));
  await writeFile(join(folder, "problems.json"), `${JSON.stringify({ kind, killed, problems }, undefined, 2)}\n`);
}
