import { spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { keys, startStorage } from "../test/cli/flowlogs/storage.ts";
import { createTraffic } from "../test/cli/flowlogs/traffic.ts";

const usage = `usage: make bench ARGS="flowlogs [OPTION…]"

Times "mooring flowlogs", from a bucket served on this machine, against "zcat | wc -l" on the same objects.

  --size MB      size of the records, unpacked (default 256)
  --rounds N     rounds; the best time of each counts (default 3)
  --goal X       fail when --top takes more than X times as long as zcat (default 3)`;

const { values } = parseArgs({
  options: {
    size: { type: "string", default: "256" },
    rounds: { type: "string", default: "3" },
    goal: { type: "string", default: "3" },
    help: { type: "boolean", short: "h", default: false },
  },
});

const yardstick = "zcat | wc -l";
const OBJECT_MB = 16;
const MB = 1024 * 1024;

const ways: Record<string, string[]> = {
  "--top srcaddr": ["--top", "srcaddr"],
  "--top, all fields": ["srcaddr", "dstaddr", "srcport", "dstport", "interface", "protocol"].flatMap((field) => [
    "--top",
    field,
  ]),
  "--action REJECT": ["--action", "REJECT"],
  "-o csv": ["-o", "csv"],
  "-o json": ["-o", "json"],
  "-o table": [],
};

/** Runs a program to its end, its output into nothing; resolves with the seconds it took. */
function time(command: string, args: string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
  const started = performance.now();
  const child = spawn(command, args, { env, stdio: "ignore" });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve((performance.now() - started) / 1000);
      else reject(new Error(`${command} ${args.join(" ")} ended with ${code}`));
    });
  });
}

async function main(): Promise<number> {
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const size = Number(values.size);
  const rounds = Number(values.rounds);
  const goal = Number(values.goal);
  if (!(size > 0 && rounds >= 1 && goal > 0)) throw new Error("--size, --rounds and --goal are numbers from 1 on");
  const folder = await mkdtemp(join(tmpdir(), "mooring-bench-"));
  try {
    await using storage = await startStorage();
    const traffic = createTraffic();
    let compressed = 0;
    for (let made = 0; made < size; made += OBJECT_MB) {
      const file = join(folder, `web-${String(made).padStart(6, "0")}.log.gz`);
      await writeFile(file, gzipSync(traffic.lines(Math.min(OBJECT_MB, size - made) * MB)));
      compressed += (await stat(file)).size;
    }
    for (const name of await readdir(folder))
      storage.objects.set(name, { body: () => createReadStream(join(folder, name)) });
    console.log(
      `${size} MB of records in ${storage.objects.size} objects of ${(compressed / MB).toFixed(0)} MB in all`,
    );

    const env = {
      ...process.env,
      MOORING_ENDPOINTS: JSON.stringify({ objectStorage: storage.url }),
      MOORING_S3_ACCESS_KEY: keys.accessKey,
      MOORING_S3_SECRET_KEY: keys.secretKey,
    };
    const command = ["src/main.ts", "flowlogs", "--bucket", "logs"];
    const runs: [name: string, run: () => Promise<number>][] = [
      [yardstick, () => time("sh", ["-c", `zcat ${folder}/*.gz | wc -l`])],
      ...Object.entries(ways).map(([name, args]): [string, () => Promise<number>] => [
        name,
        () => time(process.execPath, [...command, ...args], env),
      ]),
    ];
    // One after the other in each round, so that a busy machine is busy for all of them.
    const least = new Map<string, number>();
    for (let round = 0; round < rounds; round++) {
      for (const [name, run] of runs)
        least.set(name, Math.min(await run(), least.get(name) ?? Number.POSITIVE_INFINITY));
    }
    const ratio = (name: string) => (least.get(name) ?? 0) / (least.get(yardstick) ?? 0);
    for (const [name, seconds] of least) {
      console.log(`${name.padEnd(18)} x${ratio(name).toFixed(2)} ${(size / seconds).toFixed(0).padStart(5)} MB/s`);
    }
    return ratio("--top srcaddr") <= goal ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true });
  }
}

process.exitCode = await main();
