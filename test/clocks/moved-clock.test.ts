import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { root } from "../processes.ts";

const program = `
  const begun = performance.now();
  setTimeout((name) => console.log(JSON.stringify({ name, wall: Date.now(), steady: performance.now() - begun })), 3_600_000, "in an hour");
  const never = setTimeout(() => console.log(JSON.stringify({ name: "cleared" })), 1_800_000);
  clearTimeout(never);
  setTimeout(() => console.log("{}"), 86_400_000);
  console.log(JSON.stringify({ name: "begun", wall: Date.now() }));
`;

test("a process whose clocks are moved sees the time pass, and what it waited for come, in order", async () => {
  await using folder = temporaryFolder("moved-clock");
  const file = join(folder.path, "ahead");
  await writeFile(file, "0");
  const child = spawn(process.execPath, [
    "--import",
    `file://${root}/test/clocks/moved-clock.ts?file=${file}`,
    "--eval",
    program,
  ]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value ?? "");
  const { wall: first } = await next();
  child.kill("SIGUSR2");
  await expect.poll(() => existsSync(`${file}.frozen`)).toBe(true);
  await writeFile(file, "7200\n");
  const { name, wall, steady } = await next();
  expect(name).toBe("in an hour");
  expect(wall - first).toBeGreaterThanOrEqual(7_200_000);
  expect(steady).toBeGreaterThanOrEqual(7_200_000);
  child.kill("SIGTERM");
  await once(child, "exit");
});
