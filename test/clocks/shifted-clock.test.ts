import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { root } from "../processes.ts";

const run = promisify(execFile);
const program = `console.log(JSON.stringify([
  Date.now(), new Date().getTime(), Date.parse(Date()), new Date(5).getTime(), new Date() instanceof Date,
]))`;

test("a process may live ninety seconds ahead, and only its idea of the present does", async () => {
  const before = Date.now();
  const args = ["--import", `file://${root}/test/clocks/shifted-clock.ts?seconds=90`, "--eval", program];
  const { stdout } = await run(process.execPath, args);
  const [now, dated, reported, fixed, isDate] = JSON.parse(stdout);
  for (const instant of [now, dated, reported]) {
    expect(instant).toBeGreaterThanOrEqual(before + 89_000);
    expect(instant).toBeLessThanOrEqual(Date.now() + 90_000);
  }
  expect([fixed, isDate]).toEqual([5, true]);
});
