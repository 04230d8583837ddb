import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { AwsClient } from "aws4fetch";
import { z } from "zod";
import { spawnGuarded } from "../src/cli/control-plane/guarded.ts";
import { readLate, readWindow } from "../src/platform/activity/export.ts";
import { activityPage } from "../src/platform/activity/log.ts";
import { advanced, begunAt, dueIn, nextPeriod, type Progress } from "../src/platform/activity/progress.ts";
import { createTransport } from "../src/platform/calls/transport.ts";
import { toBucket } from "../src/platform/export/bucket.ts";
import { systemClock } from "../src/runtime/clock.ts";

/**
 * What it takes to export the activity log of a contract with many entries a second from the simulator, a process of its own,
 * to its object storage: seconds of CPU per second of log. Below 1, one core keeps up.
 */
const { values } = parseArgs({
  options: {
    rate: { type: "string", default: "1000" },
    seconds: { type: "string", default: "60" },
    goal: { type: "string", default: "0.5" },
  },
});
const [rate, seconds, goal] = [Number(values.rate), Number(values.seconds), Number(values.goal)];
const mooring = fileURLToPath(new URL("../bin/mooring", import.meta.url));
const ready = z.object({
  endpoints: z.looseObject({ api: z.string(), objectStorage: z.string() }),
  contractNumber: z.number(),
  token: z.string(),
  s3: z.object({ accessKey: z.string(), secretKey: z.string() }),
});

const simulator = spawnGuarded(mooring, ["simulator", "--json", "--kafka", "off"], {
  cwd: process.cwd(),
  output: "pipe",
});

async function started(): Promise<z.output<typeof ready>> {
  if (simulator.stdout === null) throw new Error("the simulator has no output");
  for await (const line of createInterface({ input: simulator.stdout })) return ready.parse(JSON.parse(line));
  throw new Error("the simulator did not start");
}

/** Minutes that are over, with entries up to the last. */
async function fill(api: string, token: string): Promise<number> {
  const steer = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(`${api}/_simulator/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  };
  const now = systemClock.now();
  await steer("activity", { count: rate * seconds, seconds });
  await steer("advance", { seconds: 130 });
  return now;
}

async function main(): Promise<number> {
  const { endpoints, contractNumber: contract, token, s3 } = await started();
  const { api, objectStorage: endpoint } = endpoints;
  await new AwsClient({ accessKeyId: s3.accessKey, secretAccessKey: s3.secretKey, service: "s3", region: "x" }).fetch(
    `${endpoint}/audit`,
    { method: "PUT" },
  );
  const filledAt = await fill(api, token);
  const transport = createTransport({ clock: systemClock });
  const connection = transport.connect("bench", { token });
  const to = toBucket(transport.connect("outlet"), { endpoint, bucket: "audit", prefix: "", ...s3 }, () => {});
  const log = {
    clock: systemClock,
    page: (time: { from: number; to: number }, offset: number, limit: number) =>
      activityPage(connection, api, { contract, time, offset, limit }, {}),
  };
  let progress: Progress = begunAt(filledAt - 1000 * seconds);
  let [delivered, windows] = [0, 0];
  const [cpu, began] = [process.cpuUsage(), performance.now()];
  for (let now = filledAt + 130_000; dueIn(progress, now) === 0; windows++) {
    progress = { ...progress, slices: (await readLate(log, progress)).slices };
    const window = await readWindow(log, nextPeriod(progress), to.most);
    if (window.lines.length > 0) await to.deliver(window);
    delivered += window.lines.length;
    progress = advanced(progress, window, now);
    now = systemClock.now() + (connection.aheadMs ?? 0);
  }
  const { user, system } = process.cpuUsage(cpu);
  const used = (user + system) / 1e6;
  const wall = (performance.now() - began) / 1000;
  await transport.close();
  const ratio = used / seconds;
  console.log(`activity log, ${rate} entries a second for ${seconds} s, to a bucket
  ${delivered} entries in ${windows} windows, ${wall.toFixed(1)} s, ${(delivered / wall).toFixed(0)} entries a second
  ${used.toFixed(2)} s of CPU: ${ratio.toFixed(3)} per second of log (goal ${goal})
  ${(process.memoryUsage.rss() / 1024 / 1024).toFixed(0)} MiB of memory`);
  if (delivered !== rate * seconds) throw new Error(`${rate * seconds} entries were to be delivered`);
  return ratio <= goal ? 0 : 1;
}

try {
  process.exitCode = await main();
} finally {
  simulator.kill();
}
