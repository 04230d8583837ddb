import { createHash } from "node:crypto";
import { accessSync, constants, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

/** The folder for what is built or fetched once, keyed by the files that pin it: another version is another folder. */
export function cacheFolder(name: string, pins: readonly string[], env: NodeJS.ProcessEnv): string {
  const hash = createHash("sha256");
  for (const pin of pins) hash.update(readFileSync(pin));
  const base = env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache");
  return join(base, "mooring", `${name}-${hash.digest("hex").slice(0, 16)}`);
}

const repeatMs = 15_000;

/** Runs work that takes long, and prints progress at the start and from time to time. */
export async function withProgress<T>(step: string, say: (line: string) => void, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  say(`${step} …`);
  const timer = setInterval(() => say(`${step} … ${Math.round((performance.now() - start) / 1000)}s`), repeatMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The first program of that name on PATH. */
export const onPath = (name: string, env: NodeJS.ProcessEnv): string | undefined =>
  (env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, name))
    .find(isExecutable);
