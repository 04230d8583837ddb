import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** The folder for what is built or fetched once, keyed by the files that pin it: another version is another folder. */
export function cacheFolder(name: string, pins: readonly string[], env: NodeJS.ProcessEnv): string {
  const hash = createHash("sha256");
  for (const pin of pins) hash.update(readFileSync(pin));
  const base = env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache");
  return join(base, "mooring", `${name}-${hash.digest("hex").slice(0, 16)}`);
}
