import { parseArgs } from "node:util";
import { progressTo } from "../../src/cli/control-plane/progress.ts";
import { startCluster } from "../../src/cli/control-plane/start.ts";
import { kinds } from "../../src/kinds/index.ts";
import provideProgram from "../run/program.ts";
import { moments } from "./calls.ts";
import { disturbances } from "./disturbance.ts";
import { checkOut } from "./former.ts";
import { accountKinds, atCreation, chosenKinds, subjectsOf } from "./lives/lives.ts";
import { crashMatrix, isClean, PARALLEL } from "./matrix.ts";
import { cases, restoreAll, restoredKinds, summaryOf } from "./restore/restore.ts";
import { complaint, render } from "./verdict/print.ts";

const usage = `usage: make crash ARGS="[OPTION…]"

Kills the operator at every call of every kind's life, at three moments each, and checks what is left.

  --kind KIND         only this kind; may be repeated
  --account KIND      with ${accountKinds.join(" or ")}; may be repeated (default: by turns, one kind with each)
  --position N        only this row of the matrix
  --creation          only at the write that makes something, in a life of creation and deletion
  --writes            only at writes to the platform
  --from REVISION     until it is killed, the operator is that of this Git revision: every life is an upgrade
  --elsewhere         start the operator again in another pod, as after the loss of a node (default: in the same one)
  --moment MOMENT     only ${moments.join(", ")}; may be repeated
  --twice             kill the process that picks up an interrupted write as well, at every call until it has
  --shards HOW        two operators share the work: instead of a kill, the namespace is moved to the other one, and the first
                      is ${disturbances.join(", ")}
  --restore           kill nobody: set etcd back to backups of different moments, with the operator stopped and running, and
                      restore into a new cluster; of the other options only --kind and --json count
  --impatient         only the creation, and the object is deleted as soon as the operator has died in it
  --seed N            ids and durations of the platform follow from it (default 1)
  --parallel N        lives side by side (default ${PARALLEL})
  --kubeconfig PATH   use this API server, as its administrator (default: one is started)
  --json              print the result as JSON`;

const { values } = parseArgs({
  options: {
    kind: { type: "string", multiple: true },
    account: { type: "string", multiple: true },
    position: { type: "string" },
    creation: { type: "boolean", default: false },
    writes: { type: "boolean", default: false },
    from: { type: "string" },
    elsewhere: { type: "boolean", default: false },
    moment: { type: "string", multiple: true },
    seed: { type: "string", default: "1" },
    twice: { type: "boolean", default: false },
    impatient: { type: "boolean", default: false },
    shards: { type: "string" },
    restore: { type: "boolean", default: false },
    parallel: { type: "string", default: String(PARALLEL) },
    kubeconfig: { type: "string" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});

function count(flag: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new Error(`--${flag}: "${text}" is not a whole number from 1 on`);
  return number;
}

function oneOf<T extends string>(flag: string, known: readonly T[], text: string): T {
  const found = known.find((each) => each === text);
  if (!found) throw new Error(`--${flag}: "${text}" is none of ${known.join(", ")}`);
  return found;
}

async function restore(): Promise<number> {
  await provideProgram();
  const outcomes = await restoreAll(chosenKinds(restoredKinds, values.kind), cases, (outcome) => {
    if (!values.json) console.log([summaryOf(outcome), ...outcome.problems].join("\n  "));
  });
  const problems = outcomes.flatMap((each) => each.problems);
  console.log(values.json ? JSON.stringify(outcomes) : `\n${outcomes.length} restores, ${problems.length} problems`);
  return problems.length > 0 ? 1 : 0;
}

async function main(): Promise<number> {
  if (values.help) {
    console.log(usage);
    return 0;
  }
  if (values.restore) return restore();
  const whole = subjectsOf(
    chosenKinds(kinds, values.kind),
    values.account?.map((text) => oneOf("account", accountKinds, text)),
  );
  const options = {
    subjects: values.creation ? whole.map(atCreation) : whole,
    position: values.position === undefined ? undefined : count("position", values.position),
    moments: values.moment?.map((text) => oneOf("moment", moments, text)) ?? moments,
    twice: values.twice,
    impatient: values.impatient,
    shards: values.shards === undefined ? undefined : oneOf("shards", disturbances, values.shards),
    writes: values.writes,
    elsewhere: values.elsewhere,
    seed: count("seed", values.seed),
    parallel: count("parallel", values.parallel),
  };
  const progress = progressTo(process.stderr);
  await provideProgram();
  await using cleanup = new AsyncDisposableStack();
  const former = values.from === undefined ? undefined : cleanup.use(checkOut(values.from)).path;
  let { kubeconfig } = values;
  if (kubeconfig === undefined) {
    const cluster = await startCluster({ onProgress: progress.update });
    cleanup.defer(cluster.stop);
    kubeconfig = cluster.kubeconfig;
  }
  let reported = 0;
  const startedAt = performance.now();
  const result = await crashMatrix({
    ...options,
    kubeconfig,
    former,
    onProgress(done, total, failed) {
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      const often = process.stderr.isTTY || done === total || seconds - reported >= 15;
      if (!often) return;
      reported = seconds;
      progress.update(`killing the operator: ${done} of ${total} runs, ${failed} failed`, seconds);
    },
    onFailure({ subject }, row, run) {
      const { impatient, shards } = options;
      const { kind, account, creationOnly = false } = subject;
      progress.end();
      console.error(complaint({ kind: kind.kind, account, creationOnly, impatient, shards }, row, run));
    },
  });
  progress.end();
  console.log(values.json ? JSON.stringify(result) : `\n${render(result)}`);
  return isClean(result) ? 0 : 1;
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(`crash: ${error instanceof Error ? error.message : error}`);
  return 2;
});
