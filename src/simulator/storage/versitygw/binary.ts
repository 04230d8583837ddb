import { createHash, randomUUID } from "node:crypto";
import { accessSync, constants, readFileSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawnGuarded } from "./guarded.ts";

/** The Go module that pins the gateway. The path is the same from src/ and from dist/. */
const moduleFolder = fileURLToPath(new URL("../../../../deploy/local/versitygw/", import.meta.url));
const goPackage = "github.com/versity/versitygw/cmd/versitygw";

const waysOut =
  "install Go, set MOORING_VERSITYGW to the path of a versitygw, put one on PATH, or use --object-storage builtin";

const repeatMs = 15_000;

/** The gateway's program: MOORING_VERSITYGW, PATH, the cache, or a build from the pinned modules into the cache. */
export async function provideVersitygw(env: NodeJS.ProcessEnv, say: (line: string) => void): Promise<string> {
  const given = env.MOORING_VERSITYGW;
  if (given) {
    if (isExecutable(given)) return given;
    throw new Error(`MOORING_VERSITYGW is ${given}, which cannot be executed: correct it, or unset it`);
  }
  const onPath = (env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, "versitygw"))
    .find(isExecutable);
  if (onPath !== undefined) return onPath;
  const cache = cacheFolder(env);
  const cached = join(cache, "versitygw");
  if (!isExecutable(cached)) await build(cache, cached, env, say);
  return cached;
}

async function build(
  cache: string,
  cached: string,
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<void> {
  await mkdir(cache, { recursive: true });
  // Two processes may build at once; the last to finish replaces the same program by itself.
  const part = join(cache, `${randomUUID()}.part`);
  const step = "building versitygw (once, a few minutes)";
  const start = performance.now();
  say(`${step} …`);
  const timer = setInterval(() => say(`${step} … ${Math.round((performance.now() - start) / 1000)}s`), repeatMs);
  const args = ["build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w", "-o", part, goPackage];
  const go = spawnGuarded("go", args, moduleFolder, { ...env, CGO_ENABLED: "0", GOWORK: "off" });
  try {
    const code = await go.ended;
    if (code === 127) throw new Error(`Go is needed to build versitygw, and was not found: ${waysOut}`);
    if (code !== 0) throw new Error(`versitygw could not be built: ${waysOut}\n${go.lastWords()}`);
    await rename(part, cached);
  } finally {
    clearInterval(timer);
    await rm(part, { force: true });
  }
}

/** Keyed by what is pinned: another version is another folder. */
function cacheFolder(env: NodeJS.ProcessEnv): string {
  const hash = createHash("sha256");
  for (const name of ["go.mod", "go.sum"]) hash.update(readFileSync(join(moduleFolder, name)));
  const base = env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache");
  return join(base, "mooring", `versitygw-${hash.digest("hex").slice(0, 16)}`);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
