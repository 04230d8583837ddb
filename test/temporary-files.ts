import { tmpdir } from "node:os";
import { basename } from "node:path";
import { temporaryFolder } from "../src/simulator/programs/swept.ts";

/** Whatever tests and the programs they start leave in the temporary directory goes with the run, however that ends. */
export default function setup(): void {
  if (basename(tmpdir()).startsWith("mooring-tests-")) return;
  process.env.TMPDIR = temporaryFolder("tests").path;
}
