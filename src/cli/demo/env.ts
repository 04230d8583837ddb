import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** The access to a demo for another terminal. */
export interface Access {
  kubeconfig: string;
  namespace: string;
  endpoints: Record<string, string>;
  token: string;
  metrics?: string;
  log: string;
}

/** The user's own folder with one file per running demo, named by process id. */
const folderOf = ({ XDG_CACHE_HOME, HOME }: NodeJS.ProcessEnv): string =>
  join(XDG_CACHE_HOME || join(HOME || homedir(), ".cache"), "mooring", "demos");
/** `env` has the environment of a demo, `starting` is empty. */
type Stage = "env" | "starting";
const fileOf = (env: NodeJS.ProcessEnv, pid: number, stage: Stage = "env"): string =>
  join(folderOf(env), `${pid}.${stage}`);

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Shell commands that set the environment. `assets` is the folder of the control plane's binaries. Secrets stay in files of the demo that only its user can read. */
export function environmentOf(access: Access, assets: string): string {
  const { kubeconfig, endpoints, metrics, log } = access;
  const at = (name: string) => join(dirname(kubeconfig), name);
  const commands = fileURLToPath(new URL("../../../bin", import.meta.url));
  const lines = [
    `export KUBECONFIG=${quoted(kubeconfig)}`,
    `export PATH="$PATH:"${quoted(assets)} # kubectl`,
    `command -v kubectl >/dev/null || echo '${noKubectl}' >&2`,
    `export PATH="$PATH:"${quoted(commands)} # mooring`,
    `export API=${quoted(endpoints.api ?? "")}`,
    `export TOKEN="$(cat ${quoted(at(TOKEN))})"`,
    `export MOORING_ENDPOINTS=${quoted(JSON.stringify(endpoints))}`,
    `export DEMO_ACCESS=${quoted(at(ACCESS))} # all of it as JSON, with the keys of the object storage`,
    ...(metrics === undefined ? [] : [`export METRICS=${quoted(metrics)}`]),
    `export DEMO_LOG=${quoted(log)}`,
  ];
  return `${lines.join("\n")}\n`;
}
/** A download of the control plane has kubectl; a build leaves it out, because it takes a minute more. */
const noKubectl = '"bin/mooring cluster build kubectl" builds kubectl, which is not here, in about a minute';
const TOKEN = "token";
const ACCESS = "access.json";

/** Notes for `mooring demo env` that a demo is starting. The note ends with this process, and counts until the environment is written. */
export function announceStart({ env = process.env, pid = process.pid } = {}): Disposable {
  mkdirSync(folderOf(env), { recursive: true, mode: 0o700 });
  writeFileSync(fileOf(env, pid, "starting"), "", { mode: 0o600 });
  return { [Symbol.dispose]: () => rmSync(fileOf(env, pid, "starting"), { force: true }) };
}

/** Writes the environment for `mooring demo env`. The file is removed with this process. */
export async function writeEnvironment(
  access: Access,
  assets: string,
  { env = process.env, pid = process.pid }: { env?: NodeJS.ProcessEnv; pid?: number } = {},
): Promise<Disposable> {
  const secret = { mode: 0o600 };
  const at = (name: string) => join(dirname(access.kubeconfig), name);
  await writeFile(at(TOKEN), access.token, secret);
  await writeFile(at(ACCESS), `${JSON.stringify(access)}\n`, secret);
  await mkdir(folderOf(env), { recursive: true, mode: 0o700 });
  await writeFile(fileOf(env, pid), environmentOf(access, assets), secret);
  return { [Symbol.dispose]: () => rmSync(fileOf(env, pid), { force: true }) };
}

const POLL_MS = 250;

/**
 * `mooring demo env`: prints the environment of the latest demo. While one starts and none runs, it waits for its
 * platform, which the first time takes minutes. Removes the files of killed demos.
 */
export async function envCommand(env: NodeJS.ProcessEnv = process.env): Promise<number> {
  const starting = demos(env, "starting");
  const [first] = starting;
  if (first !== undefined && demos(env).length === 0) {
    const wait = "waiting until its platform runs, the first time for up to five minutes";
    console.error(`mooring demo env: demo ${first.pid} is starting: ${wait}; Ctrl-C ends the waiting`);
    while (demos(env).length === 0 && demos(env, "starting").length > 0) await delay(POLL_MS);
  }
  const [last, ...others] = demos(env);
  if (last === undefined) {
    const what = first === undefined ? "no demo is running" : `demo ${first.pid} ended before its platform ran`;
    console.error(`mooring demo env: ${what}: start one with bin/mooring demo`);
    return 1;
  }
  const pids = others.map(({ pid }) => pid).join(", ");
  if (others.length > 0) console.error(`mooring demo env: demo ${last.pid}, the last one; also running: ${pids}`);
  process.stdout.write(readFileSync(last.path, "utf8"));
  return 0;
}

/** Running demos of a stage, latest first. */
function demos(env: NodeJS.ProcessEnv, stage: Stage = "env"): { pid: number; path: string }[] {
  const all = names(folderOf(env)).flatMap((name) => {
    const [number, found] = name.split(".");
    if (found !== stage) return [];
    const path = join(folderOf(env), name);
    const since = isAlive(Number(number)) ? sinceOf(path) : undefined;
    if (since !== undefined) return [{ pid: Number(number), path, since }];
    rmSync(path, { force: true });
    return [];
  });
  return all.sort((a, b) => b.since - a.since);
}

/** When a file was written; undefined if its demo has just removed it. */
const sinceOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.mtimeMs;

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
