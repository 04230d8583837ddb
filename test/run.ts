import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { add, type Counts, countsSchema, countsVariable } from "./reporter.ts";

// `make test`: every step runs, whatever the others said; the last line adds them up, a step counting as one check.

const root = fileURLToPath(new URL("../", import.meta.url));

function succeeds(title: string, script: string, args: string[], env: NodeJS.ProcessEnv = {}): boolean {
  console.log(`\n== ${title}`);
  const options = { cwd: root, stdio: "inherit", env: { ...process.env, ...env } } as const;
  return spawnSync(process.execPath, [join(root, script), ...args], options).status === 0;
}

const asCounts = (passed: boolean): Counts => ({ passed: passed ? 1 : 0, failed: passed ? 0 : 1 });

function runTests(filters: string[]): Counts {
  const folder = mkdtempSync(join(tmpdir(), "mooring-test-"));
  const file = join(folder, "counts.json");
  try {
    const args = ["run", "--reporter=default", "--reporter=./test/reporter.ts", ...filters];
    const passed = succeeds("tests", "node_modules/vitest/vitest.mjs", args, { [countsVariable]: file });
    const counts = readCounts(file);
    const unexplained = counts.failed === 0 && (!passed || counts.passed === 0);
    return unexplained ? add(counts, asCounts(false)) : counts;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Nothing was written when the test runner itself broke down. */
function readCounts(file: string): Counts {
  try {
    return countsSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return { passed: 0, failed: 0 };
  }
}

const total = [
  asCounts(succeeds("types", "node_modules/typescript/bin/tsc", ["--noEmit"])),
  asCounts(succeeds("lint", "node_modules/@biomejs/biome/bin/biome", ["check", "."])),
  asCounts(succeeds("control plane binaries", "src/main.ts", ["cluster", "build"])),
  runTests(process.argv.slice(2)),
].reduce(add);

console.log(`\n${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
