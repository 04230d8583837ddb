import { randomUUID } from "node:crypto";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawnGuarded } from "../../programs/guarded.ts";
import { cacheFolder, isExecutable, onPath, withProgress } from "../../programs/install.ts";

/** The Go module that pins the gateway. The path is the same from src/ and from dist/. */
const moduleFolder = fileURLToPath(new URL("../../../../deploy/local/versitygw/", import.meta.url));
const goPackage = "github.com/versity/versitygw/cmd/versitygw";

const waysOut =
  "install Go, set MOORING_VERSITYGW to the path of a versitygw, put one on PATH, or use --object-storage builtin";

/** The gateway's program: MOORING_VERSITYGW, PATH, the cache, or a build from the pinned modules into the cache. */
export async function provideVersitygw(env: NodeJS.ProcessEnv, say: (line: string) => void): Promise<string> {
  const given = env.MOORING_VERSITYGW;
  if (given) {
    if (isExecutable(given)) return given;
    throw new Error(`MOORING_VERSITYGW is ${given}, which cannot be executed: correct it, or unset it`);
  }
  const installed = onPath("versitygw", env);
  if (installed !== undefined) return installed;
  const pins = ["go.mod", "go.sum"].map((name) => join(moduleFolder, name));
  const cache = cacheFolder("versitygw", pins, env);
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
  const args = ["build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w", "-o", part, goPackage];
  const go = spawnGuarded("go", args, moduleFolder, { ...env, CGO_ENABLED: "0", GOWORK: "off" });
  try {
    const code = await withProgress("building versitygw (once, a few minutes)", say, () => go.ended);
    if (code === 127) throw new Error(`Go is needed to build versitygw, and was not found: ${waysOut}`);
    if (code !== 0) throw new Error(`versitygw could not be built: ${waysOut}\n${go.lastWords()}`);
    await rename(part, cached);
  } finally {
    await rm(part, { force: true });
  }
}
