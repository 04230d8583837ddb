import { globSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder, isExecutable, withProgress } from "../../src/simulator/programs/install.ts";
import { run } from "../../test/processes.ts";
import { say } from "./waiting.ts";

const folder = fileURLToPath(new URL("../peer/", import.meta.url));

/** The path of the peer's program, built once per version of its source. */
export async function buildPeer(env = process.env): Promise<string> {
  const cache = cacheFolder("peer", globSync(`${folder}*{.go,.mod,.sum}`).sort(), env);
  const program = join(cache, "peer");
  if (isExecutable(program)) return program;
  mkdirSync(cache, { recursive: true });
  const part = `${program}.${process.pid}`;
  const args = ["build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w", "-o", part, "."];
  const options = { cwd: folder, env: { ...env, CGO_ENABLED: "0", GOWORK: "off" } };
  const built = await withProgress("building the peer (once, a few minutes)", say, () => run("go", args, options));
  if (built.code !== 0) throw new Error(`bench/peer cannot be built:\n${built.stderr}`);
  renameSync(part, program);
  return program;
}
