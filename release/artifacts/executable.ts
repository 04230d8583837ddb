import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { signAdHoc } from "../formats/macho.ts";
import { sha256 } from "../formats/oci.ts";
import { type Entry, tar } from "../formats/tar.ts";
import type { NodeBinary } from "./node.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Node contains this marker, and finds an embedded blob by it. */
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

/** Files that the single executable does not need: documents and CRDs. */
const unread = /^(README\.md|CHANGELOG\.md|crds\/)/;

/**
 * Makes the blob that turns Node into `mooring`. It is the same for all platforms with the version of `node`, a program
 * of this machine.
 */
export async function makeBlob(program: readonly Entry[], work: string, node = process.execPath): Promise<string> {
  // The blob contains the path of the main file, so a relative path keeps it reproducible.
  const [main, output] = ["start.cjs", "mooring.blob"];
  const files = program.filter(({ path }) => !unread.test(path));
  const assets: Record<string, string> = {};
  const add = (key: string, content: Buffer | string) => {
    const path = join(work, "assets", key);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    assets[key] = path;
  };
  for (const { path, content } of files) add(path, content);
  add("build", sha256(tar(files, 0)).slice(0, 16));
  await build({
    input: join(root, "release/artifacts/start.ts"),
    platform: "node",
    logLevel: "warn",
    output: { file: join(work, main), format: "cjs" },
  });
  // Users cannot act on warnings about experimental features of Node.
  const execArgv = ["--disable-warning=ExperimentalWarning"];
  const config = { main, output, assets, execArgv, disableExperimentalSEAWarning: true };
  writeFileSync(join(work, "sea.json"), JSON.stringify(config));
  execFileSync(node, ["--experimental-sea-config", "sea.json"], { cwd: work, stdio: "pipe" });
  return join(work, output);
}

export function makeExecutable(node: NodeBinary, blob: string, path: string): void {
  copyFileSync(node.path, path);
  chmodSync(path, 0o755);
  const darwin = node.platform.os === "darwin";
  const segment = darwin ? ["--macho-segment-name", "NODE_SEA"] : [];
  const postject = join(root, "node_modules/postject/dist/cli.js");
  const args = [postject, path, "NODE_SEA_BLOB", blob, "--sentinel-fuse", FUSE, ...segment];
  execFileSync(process.execPath, args, { stdio: "pipe" });
  // The signature of the linker no longer fits.
  if (darwin) writeFileSync(path, signAdHoc(readFileSync(path), "mooring"));
}

/** The files of the archive for users and for krew. */
export const executableEntries = (path: string, root: string, licenses: string): Entry[] => [
  { path: "mooring", content: readFileSync(path), executable: true },
  { path: "LICENSE", content: readFileSync(join(root, "LICENSE")) },
  { path: "licenses.txt", content: licenses },
];
