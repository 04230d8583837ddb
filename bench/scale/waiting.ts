import { setTimeout as delay } from "node:timers/promises";
import { cpuOf } from "./proc.ts";

const STEP_MS = 100;
const REPORT_MS = 10_000;

/** Waits until nothing is missing any more, and tells now and then what is; false when that takes too long. */
export async function until(
  missing: () => string | undefined | Promise<string | undefined>,
  { title, seconds, stepMs = STEP_MS }: { title: string; seconds: number; stepMs?: number },
): Promise<boolean> {
  const began = performance.now();
  let reported = began;
  for (;;) {
    const what = await missing();
    if (what === undefined) return true;
    const now = performance.now();
    if (now - began > seconds * 1000) {
      say(`${title}: given up after ${seconds} s: ${what}`);
      return false;
    }
    if (now - reported > REPORT_MS) {
      say(`${title}: ${what}`);
      reported = now;
    }
    await delay(stepMs);
  }
}

/** The same for what has to come. */
export async function untilSure(...[missing, options]: Parameters<typeof until>): Promise<void> {
  if (!(await until(missing, options))) throw new Error(`${options.title}: did not come within ${options.seconds} s`);
}

export const say = (line: string) => void process.stderr.write(`  ${line}\n`);

/** So long a process has to use almost nothing to count as quiet. */
const QUIET_MS = 4000;
const ALMOST_NOTHING = 0.05;

/** Waits until a process has nothing to do. Resolves with the time since which that is so. */
export async function untilQuiet(pid: number, seconds = 600): Promise<number> {
  const seen: { at: number; cpu: number }[] = [];
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const now = { at: performance.now(), cpu: cpuOf(pid) };
    seen.push(now);
    while (seen[1] && now.at - seen[1].at >= QUIET_MS) seen.shift();
    const [first = now] = seen;
    const share = (now.cpu - first.cpu) / ((now.at - first.at) / 1000);
    if (now.at - first.at >= QUIET_MS && share < ALMOST_NOTHING) return first.at;
    if (now.at > deadline) throw new Error(`process ${pid} was still busy after ${seconds} s`);
    await delay(200);
  }
}
