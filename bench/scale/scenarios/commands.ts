import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { temporaryFolder } from "../../../src/simulator/programs/swept.ts";
import { start } from "../../../test/processes.ts";
import { program } from "../../../test/run/program.ts";
import { allOf, NAMESPACE, type Population } from "../population.ts";
import { cpuOf, peakOf } from "../proc.ts";
import type { Stage } from "../stage.ts";
import { say } from "../waiting.ts";
import type { Chapter } from "./scenario.ts";

const SAMPLE_MS = 20;
/** One Server in so many is edited in the files of the plan. */
const EDITED = 100;

/** What people wait for with many objects: `tree`, `plan` of all of them, and `orphans`. */
export const measureCommands: Chapter = async (stage, population, note) => {
  if (stage.contender !== "mooring") return;
  await using folder = temporaryFolder("commands");
  const { file, edited } = writeManifests(population, folder.path);
  const unchanged = allOf(population).length - edited;

  const tree = await run(stage, ["tree"], 0);
  // Its lines are the objects and their Account.
  expectIn(tree.output, `Server/${population.servers.at(-1)?.metadata.name}  Ready`);
  note("treeSeconds", tree.seconds);
  note("treePeak", tree.peak);

  const plan = await run(stage, ["plan", "-f", file], 2);
  expectIn(plan.output, `Plan: ${edited} to change, ${unchanged} unchanged`);
  note("planSeconds", plan.seconds);
  note("planPeak", plan.peak);

  const orphans = await run(stage, ["orphans"], 0);
  expectIn(orphans.output, "kinds checked");
  note("orphansSeconds", orphans.seconds);
  note("orphansPeak", orphans.peak);
};

function writeManifests({ datacenters, servers }: Population, folder: string): { file: string; edited: number } {
  const changed = servers.map((each, nth) =>
    nth % EDITED === 0 ? { ...each, spec: { ...Object(each.spec), cores: 2 } } : each,
  );
  const file = join(folder, "all.json");
  const items = [...datacenters, ...changed];
  writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  return { file, edited: Math.ceil(servers.length / EDITED) };
}

/** Runs a command to its end. `peak`: the most memory that it has occupied, in megabytes. */
async function run({ kubeconfig, platform }: Stage, command: readonly string[], code: number) {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, MOORING_ENDPOINTS: JSON.stringify(platform.endpoints), MOORING_REGION: "de/txl" };
  const began = performance.now();
  const running = start(program(), [...command, "--kubeconfig", kubeconfig, "-n", NAMESPACE], { env });
  let ended: number | undefined;
  let endedAt = began;
  void running.ended.then((with_) => {
    ended = with_;
    endedAt = performance.now();
  });
  let [peak, cpu] = [0, 0];
  while (ended === undefined) {
    try {
      peak = Math.max(peak, peakOf(running.pid));
      cpu = cpuOf(running.pid);
    } catch {
      // It ends at this moment.
    }
    await delay(SAMPLE_MS);
  }
  const output = running.output();
  if (ended !== code) throw new Error(`mooring ${command[0]} ended with ${ended}:\n${output.slice(-2000)}`);
  const seconds = (endedAt - began) / 1000;
  say(`commands: ${command[0]} took ${seconds.toFixed(1)} s, ${cpu.toFixed(1)} s of CPU, ${peak.toFixed(0)} MB`);
  return { seconds, peak, output };
}

function expectIn(output: string, text: string): void {
  if (!output.includes(text)) throw new Error(`the answer has no "${text}":\n${output.slice(-2000)}`);
}
