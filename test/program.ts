import { chmodSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "../image/bundle.ts";
import { temporaryFolder } from "../src/simulator/programs/swept.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const node = join(root, "node_modules/node/bin/node");
const variable = "MOORING_TEST_PROGRAM";

/** The folder of what a test run has built; absent outside of one. */
const built = (): string | undefined => process.env[variable];

/** What Node runs: what the image ships, which starts in a third of the time, or the sources where nothing was built. */
export const mainFile = (): string => (built() === undefined ? join(root, "src/main.ts") : `${built()}/dist/main.js`);

/** The same as a command, where it does not matter how users call it. */
export const program = (): string => (built() === undefined ? join(root, "bin/mooring") : `${built()}/mooring`);

/** Builds it from the sources as they are now, once for all files of this run; it goes with this process. */
export default async function provideProgram(): Promise<void> {
  if (built() !== undefined) return;
  const { path } = temporaryFolder("program");
  await bundle(join(path, "dist"));
  for (const beside of ["package.json", "deploy"]) symlinkSync(join(root, beside), join(path, beside));
  writeFileSync(join(path, "mooring"), `#!/bin/sh\nexec "${node}" "${path}/dist/main.js" "$@"\n`);
  chmodSync(join(path, "mooring"), 0o755);
  process.env[variable] = path;
}
