import { existsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename } from "node:path";
import { expect, it } from "vitest";
import { sweptFolder, temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { run } from "../processes.ts";

it("tests have a temporary directory of their run, and so do the programs they start", async () => {
  expect(basename(tmpdir())).toMatch(/^mooring-tests-/);
  expect(statSync(tmpdir()).isDirectory()).toBe(true);
  const { stdout } = await run(process.execPath, ["-p", "os.tmpdir()"]);
  expect(stdout.trim()).toBe(tmpdir());
});

it.each(["process.exit()", "process.kill(process.pid, 'SIGKILL')"])("a temporary folder goes with %s", async (end) => {
  const program = `
    const { temporaryFolder } = await import("./src/simulator/programs/swept.ts");
    process.stdout.write(temporaryFolder("gone").path, () => { ${end} });`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program]);
  expect(basename(stdout)).toMatch(/^mooring-gone-/);
  await expect.poll(() => existsSync(stdout)).toBe(false);
});

it("a temporary folder goes at the end of its block, unless it is kept", async () => {
  let path = "";
  {
    await using folder = temporaryFolder("block");
    path = folder.path;
    expect(existsSync(path)).toBe(true);
  }
  expect(existsSync(path)).toBe(false);
  const kept = temporaryFolder("kept");
  kept.keep();
  expect(existsSync(kept.path)).toBe(true);
  await sweptFolder(kept.path).remove();
});
