import { spawnSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Swept, temporaryFolder } from "../../src/simulator/programs/swept.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/**
 * The source and the chart of another revision of this repository, in a separate folder, with the current libraries.
 */
export function checkOut(revision: string): Swept {
  const folder = temporaryFolder("former");
  const script = 'set -eo pipefail; git archive "$0" package.json src crds deploy/chart | tar -x -C "$1"';
  const { status, stderr } = spawnSync("bash", ["-c", script, revision, folder.path], { cwd: root, encoding: "utf8" });
  if (status !== 0) {
    folder.remove();
    throw new Error(`revision ${revision} cannot be checked out: ${stderr.trim()}`);
  }
  symlinkSync(join(root, "node_modules"), join(folder.path, "node_modules"));
  return folder;
}

/**
 * The last landed version: where this branch left main, or on main the previous commit. Undefined without Git history.
 */
export function lastLanded(): string | undefined {
  const git = (...args: string[]) => spawnSync("git", args, { cwd: root, encoding: "utf8" }).stdout?.trim();
  const base = git("merge-base", "HEAD", "main");
  return (
    (base && base !== git("rev-parse", "HEAD") ? base : git("rev-parse", "--verify", "--quiet", "HEAD^1")) || undefined
  );
}
