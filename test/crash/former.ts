import { spawnSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Swept, temporaryFolder } from "../../src/simulator/programs/swept.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The source of another revision of this repository, in a folder of its own, with the libraries that are here. */
export function checkOut(revision: string): Swept {
  const folder = temporaryFolder("former");
  const script = 'set -eo pipefail; git archive "$0" package.json src | tar -x -C "$1"';
  const { status, stderr } = spawnSync("bash", ["-c", script, revision, folder.path], { cwd: root, encoding: "utf8" });
  if (status !== 0) {
    folder.remove();
    throw new Error(`revision ${revision} cannot be checked out: ${stderr.trim()}`);
  }
  symlinkSync(join(root, "node_modules"), join(folder.path, "node_modules"));
  return folder;
}
