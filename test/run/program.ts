import { chmodSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "../../image/bundle.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const node = join(root, "node_modules/node/bin/node");
const variable = "MOORING_TEST_PROGRAM";

/** The folder of the built program; undefined outside of a test run. */
const built = (): string | undefined => process.env[variable];

/**
 * The main file for Node: the bundle of the image, which starts in a third of the time, or the sources if nothing was
 * built.
 */
export const mainFile = (): string => (built() === undefined ? join(root, "src/main.ts") : `${built()}/dist/main.js`);

/** The same as a command, for tests that do not depend on the way users call it. */
export const program = (): string => (built() === undefined ? join(root, "bin/mooring") : `${built()}/mooring`);

/** Builds the program from the current sources, once for all files of this run. It is removed with this process. */
export default async function provideProgram(): Promise<void> {
  if (built() !== undefined) return;
  const { path } = temporaryFolder("program");
  await bundle(join(path, "dist"));
  for (const adjacent of ["package.json", "deploy"]) symlinkSync(join(root, adjacent), join(path, adjacent));
  writeFileSync(join(path, "mooring"), `#!/bin/sh\nexec "${node}" "${path}/dist/main.js" "$@"\n`);
  chmodSync(join(path, "mooring"), 0o755);
  process.env[variable] = path;
}
