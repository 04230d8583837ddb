import { spawn, spawnSync } from "node:child_process";
import { createWriteStream, readFileSync } from "node:fs";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { searchForKeys } from "./canary.ts";
import { outputVariable } from "./kept-output.ts";
import { add, type Counts, countsSchema, countsVariable } from "./reporter.ts";
import { rightsInUse, unused } from "./rights-in-use.ts";

// `make test`: every step runs, even if others fail. The last line adds them up; a step counts as one check.

const root = fileURLToPath(new URL("../../", import.meta.url));

const TESTS = "tests";
const KEYS = "no key in anything printed, logged or written into an object";
const RIGHTS = "the operator's rights are those that it uses";
/** The cache of the type check: only files that changed, and those that import them, are checked again. */
const TYPES = ".cache/types.tsbuildinfo";
const announce = (title: string) => console.log(`\n== ${title}`);

function step(title: string, script: string, args: string[]): Counts {
  announce(title);
  const { status } = spawnSync(process.execPath, [join(root, script), ...args], { cwd: root, stdio: "inherit" });
  return asCounts(title, status === 0);
}

const asCounts = (title: string, passed: boolean): Counts => ({
  passed: passed ? 1 : 0,
  failed: passed ? 0 : 1,
  failures: passed ? [] : [`${title}: see "== ${title}" above`],
});

/** Runs the tests, then searches the output of this process and of every process and API server that was started. */
async function runTests(filters: string[]): Promise<Counts> {
  await using compiled = temporaryFolder("test");
  await using printed = temporaryFolder("test-output");
  const [folder, output] = [compiled.path, printed.path];
  const counts = join(folder, "counts.json");
  announce(TESTS);
  const args = ["run", "--reporter=default", "--reporter=./test/run/reporter.ts", ...filters];
  const env = { ...fasterPrograms(folder), [countsVariable]: counts, [outputVariable]: output };
  const passed = await vitest(args, env, join(output, "tests"));
  const counted = readCounts(counts);
  const unexplained = counted.failed === 0 && (!passed || counted.passed === 0);
  const whole = filters.length === 0;
  const searched = [
    asCounts(KEYS, await keepsKeys(output, whole)),
    asCounts(RIGHTS, await usesItsRights(output, whole)),
  ];
  return [counted, ...searched, ...(unexplained ? [asCounts(TESTS, false)] : [])].reduce(add);
}

/** Hundreds of processes are started, so speed matters more than memory, and compiled code is shared. */
const fasterPrograms = (folder: string) => ({ GOGC: "400", NODE_COMPILE_CACHE: join(folder, "compiled") });

/** Shows the output and keeps it. Ctrl-C reaches vitest as well, and its cleanup runs before this ends. */
async function vitest(args: string[], env: NodeJS.ProcessEnv, log: string): Promise<boolean> {
  const colour = process.stdout.isTTY ? { FORCE_COLOR: "1" } : {};
  const child = spawn(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), ...args], {
    cwd: root,
    env: { ...process.env, ...colour, ...env },
    stdio: ["inherit", "pipe", "pipe"],
  });
  process.on("SIGINT", () => {});
  process.once("SIGTERM", () => child.kill());
  const kept = createWriteStream(log);
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ] as const) {
    from.on("data", (chunk) => {
      to.write(chunk);
      kept.write(chunk);
    });
  }
  const code = await new Promise((resolve) => child.once("close", resolve));
  await finished(kept.end());
  return code === 0;
}

async function keepsKeys(output: string, whole: boolean): Promise<boolean> {
  announce(KEYS);
  const { files, bytes, issues, leaks } = await searchForKeys(output);
  console.log(`searched ${files} files, ${Math.ceil(bytes / 1e6)} MB, which mention new keys ${issues} times`);
  for (const { file, line } of leaks.slice(0, 20)) console.log(`a key is in ${file}, line ${line}`);
  if (whole && issues === 0) console.log("no key was ever made: the search proves nothing");
  return leaks.length === 0 && (!whole || issues > 0);
}

/** The operator must not be refused anything and, after a run of all tests, must have no unused rights. */
async function usesItsRights(output: string, whole: boolean): Promise<boolean> {
  announce(RIGHTS);
  const { calls, used, refused } = await rightsInUse(output);
  console.log(`${calls} calls of operators in the audit logs, which used ${used.size} rights`);
  for (const [right, asked] of refused) console.log(`missing: ${right} (${asked})`);
  const left = unused(used);
  if (!whole) console.log(`not all tests have run: ${left.length} rights that were not used are not looked at`);
  else for (const right of left) console.log(`never used: ${right}`);
  return refused.size === 0 && (!whole || left.length === 0);
}

/** Without a file, the test runner itself failed. */
function readCounts(file: string): Counts {
  try {
    return countsSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return { passed: 0, failed: 0, failures: [] };
  }
}

const total = [
  step("types", "node_modules/typescript/bin/tsc", ["--noEmit", "--incremental", "--tsBuildInfoFile", TYPES]),
  step("lint", "node_modules/@biomejs/biome/bin/biome", ["check", "."]),
  step("control plane binaries", "src/main.ts", ["cluster", "build"]),
  step("programs of other ecosystems", "test/run/prepare.ts", []),
  await runTests(process.argv.slice(2)),
].reduce(add);

// Readers who see only the end of the output should see why it failed.
if (total.failures.length > 0) announce("failed");
for (const failure of total.failures.slice(0, 20)) console.log(failure);
console.log(`\n${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
