import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { getAsset, getAssetKeys } from "node:sea";
import { pathToFileURL } from "node:url";
import { constants, Script } from "node:vm";

// The entry point of the single executable: unpacks the command into the user's cache, once per build, and runs it.

/** The asset with the digest of all unpacked files, which identifies the build. */
const BUILD = "build";

function unpackInto(folder: string): void {
  for (const path of getAssetKeys().filter((key) => key !== BUILD)) {
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, Buffer.from(getAsset(path)));
  }
}

/** The folder is renamed when it is complete, so that several processes can start at once. */
function unpackOnce(folder: string): string {
  if (existsSync(folder)) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  const work = mkdtempSync(`${folder}.`);
  try {
    unpackInto(work);
    renameSync(work, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return folder;
}

/** If the cache is not writable, unpacks the command for this process alone. */
function unpackForNow(): string {
  const folder = mkdtempSync(join(tmpdir(), "mooring-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  unpackInto(folder);
  return folder;
}

function unpack(): string {
  const { env } = process;
  const cache = env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache");
  try {
    return unpackOnce(join(cache, "mooring", `program-${getAsset(BUILD, "utf8")}`));
  } catch {
    return unpackForNow();
  }
}

const main = join(unpack(), "dist/main.js");
// The program starts itself as `node main.js …` does, so the path of the main file may be an argument.
const [program = "", , ...args] = process.argv;
process.argv = [program, main, ...(args[0] === main ? args.slice(1) : args)];
// import() in this file would only find Node's own modules.
const load = new Script("(url) => import(url)", { importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER });
load.runInThisContext()(pathToFileURL(main).href);
