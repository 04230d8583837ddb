import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { binaryNames, provideBinaries } from "../src/cli/control-plane/binaries.ts";
import { progressTo } from "../src/cli/control-plane/progress.ts";
import { endAll } from "../test/ending.ts";
import provideProgram from "../test/run/program.ts";
import { criticalPath, doneToReady, quantile, readyToNext } from "./latency/critical-path.ts";
import { measureLandscape, type Run } from "./latency/landscape.ts";
import { measureReactions } from "./latency/single.ts";
import { onStage } from "./latency/stage.ts";

const usage = `usage: make bench ARGS="latency [OPTION…]"

How long people wait for the operator and not for the platform: the sample landscape is applied to an operator that was just
started, and again after it was deleted. Each speed has a control plane, a platform and an operator of its own.

  --speeds LIST   speeds of the platform's clock (default 1,5)
  --times N       how often the landscape is applied (default 3); the last time counts
  --singles N     Datacenters that are applied and edited one after the other, at the highest speed (default 50; 0: none)
  --json FILE     also write all figures to FILE; - is stdout, instead of the table
  -h, --help      show this help`;

/** A figure with its goal; `value` and `most` are in `unit`. */
interface Figure {
  title: string;
  value: number;
  unit: string;
  most?: number;
}

/** The platform calls of the landscape, without its Account, when all changes are polled at the poll interval. */
const CALLS = 67;
const overheadGoals = new Map([
  [1, 6],
  [5, 10],
]);

function landscapeFigures(speed: number, runs: readonly Run[]): Figure[] {
  const titled = (title: string) => `${title}, speed ${speed}`;
  const perRun = runs.flatMap((run, index) => {
    const { ms } = criticalPath(run.objects);
    const isLast = index === runs.length - 1;
    const most = overheadGoals.get(speed);
    const calls = speed === 1 ? CALLS : undefined;
    const nth = index === 0 ? "first landscape" : `landscape ${index + 1}`;
    return [
      { title: titled(`${nth}: apply to all Ready`), value: run.seconds, unit: "s" },
      { title: titled("… the platform's critical path"), value: ms / 1000, unit: "s" },
      {
        title: titled("… overhead"),
        value: 100 * ((1000 * run.seconds) / ms - 1),
        unit: "%",
        ...(isLast && most !== undefined && { most }),
      },
      {
        title: titled("… platform calls"),
        value: run.calls,
        unit: "",
        ...(isLast && calls !== undefined && { most: calls }),
      },
    ];
  });
  const last = runs.at(-1)?.objects ?? [];
  const [done, next] = [doneToReady(last), readyToNext(last)];
  return [
    ...perRun,
    { title: titled("DONE to Ready, median"), value: quantile(done, 0.5) / 1000, unit: "s", most: 0.35 },
    { title: titled("… longest"), value: Math.max(...done) / 1000, unit: "s" },
    { title: titled("Ready to the POST of a dependent, median"), value: quantile(next, 0.5), unit: "ms", most: 100 },
    { title: titled("… longest"), value: Math.max(...next), unit: "ms" },
  ];
}

const reactionFigures = (title: string, times: readonly number[]): Figure[] => [
  { title: `${title}, median`, value: quantile(times, 0.5), unit: "ms", most: 60 },
  { title: "… 99 of 100", value: quantile(times, 0.99), unit: "ms", most: 250 },
];

function tableOf(figures: readonly Figure[]): string {
  const told = (value: number, unit: string) => `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${unit}`.trim();
  const cells = figures.map(({ title, value, unit, most }) => [
    title,
    told(value, unit),
    most === undefined ? "" : `≤ ${most} ${unit}`.trim(),
    most === undefined ? "" : value <= most ? "met" : "missed",
  ]);
  const lines = [["Figure", "Mooring", "Goal", ""], ["---", "---", "---", "---"], ...cells];
  return lines.map((line) => `| ${line.join(" | ")} |`).join("\n");
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      speeds: { type: "string", default: "1,5" },
      times: { type: "string", default: "3" },
      singles: { type: "string", default: "50" },
      json: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const progress = progressTo(process.stderr);
  await provideBinaries(binaryNames, { onProgress: progress.update });
  progress.end();
  await provideProgram();
  const speeds = values.speeds.split(",").map(Number);
  const figures: Figure[] = [];
  const runs: Record<string, Run[]> = {};
  for (const [index, speed] of speeds.entries()) {
    await onStage(speed, async (stage) => {
      const found = await measureLandscape(stage, Number(values.times));
      runs[speed] = found;
      figures.push(...landscapeFigures(speed, found));
      if (index < speeds.length - 1 || Number(values.singles) === 0) return;
      const { applied, edited, requests } = await measureReactions(stage, Number(values.singles));
      figures.push(...reactionFigures("apply to POST", applied), ...reactionFigures("edit to PATCH", edited));
      figures.push({
        title: "… the API server's share: one write, median",
        value: quantile(requests, 0.5),
        unit: "ms",
      });
    });
    await endAll();
  }
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}`;
  const told = { at: new Date().toISOString(), machine, load: loadavg()[0], figures, runs };
  const text = `${JSON.stringify(told, null, 2)}\n`;
  if (values.json === "-") process.stdout.write(text);
  else {
    if (values.json !== undefined) writeFileSync(values.json, text);
    console.log(tableOf(figures));
  }
  return 0;
}

// Whatever was started ends with this process, however that ends.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
process.exitCode = await main();
