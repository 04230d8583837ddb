import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { binaryNames, provideBinaries } from "../../src/cli/control-plane/binaries.ts";
import { progressTo } from "../../src/cli/control-plane/progress.ts";
import { endAll } from "../../test/ending.ts";
import provideProgram from "../../test/run/program.ts";
import { buildPeer } from "./build-peer.ts";
import { createResults, type Results } from "./figures.ts";
import { type Options, readOptions, UsageError, usage } from "./options.ts";
import { playsOf } from "./scenarios/index.ts";
import { onStage } from "./stage.ts";
import { rowsOf, tableOf } from "./table.ts";
import { say } from "./waiting.ts";

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options === "help") {
    console.log(usage);
    return 0;
  }
  const progress = progressTo(process.stderr);
  await provideBinaries(binaryNames, { onProgress: progress.update });
  progress.end();
  const peer = options.contenders.includes("peer") ? await buildPeer() : undefined;
  await provideProgram();
  const results = createResults();
  for (let round = 1; round <= options.rounds; round++) await playRound(round, options, peer, results);
  tell(options, results);
  return 0;
}

/** Each play by each contender. Who was second is first in the next round. */
async function playRound(round: number, options: Options, peer: string | undefined, results: Results): Promise<void> {
  const order = round % 2 === 1 ? options.contenders : options.contenders.toReversed();
  for (const { title, play, contenders } of playsOf(options)) {
    for (const contender of order.filter((each) => contenders.includes(each))) {
      process.stderr.write(`round ${round}, ${contender}: ${title}\n`);
      await onStage(contender, options, peer, (stage) =>
        play(stage, (figure, value) => {
          say(`${figure} ${value.toFixed(3)}`);
          results.add(contender, figure, value);
        }),
      );
      await endAll();
    }
  }
}

function tell(options: Options, results: Results): void {
  const rows = rowsOf(results, options.objects);
  const { objects, rounds, workers, speed } = options;
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}`;
  const run = { at: new Date().toISOString(), machine, objects, rounds, workers, speed };
  if (options.json !== undefined) {
    const text = `${JSON.stringify({ ...run, rows }, null, 2)}\n`;
    if (options.json === "-") process.stdout.write(text);
    else writeFileSync(options.json, text);
  }
  if (options.json === "-") return;
  console.log(
    `${objects} objects, ${workers} workers, platform at ${speed} times its speed, ${rounds} rounds, ${machine}\n`,
  );
  console.log(tableOf(rows, options.contenders));
}

// Whatever was started ends with this process, however that ends.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
process.exitCode = await main().catch((error: unknown) => {
  const isUsage = error instanceof UsageError || Reflect.get(Object(error), "code") === "ERR_PARSE_ARGS_UNKNOWN_OPTION";
  console.error(
    `bench: ${isUsage && error instanceof Error ? `${error.message}\nSee --help.` : error instanceof Error ? error.stack : String(error)}`,
  );
  return isUsage ? 2 : 1;
});
