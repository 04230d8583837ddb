import { tmpdir } from "node:os";
import { basename } from "node:path";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";

/**
 * Everything that tests and their programs leave in the temporary directory is removed with the run, however it ends.
 */
export default function setup(): void {
  if (basename(tmpdir()).startsWith("mooring-tests-")) return;
  process.env.TMPDIR = temporaryFolder("tests").path;
}
