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

/** The package whose program runs. */
const checkout = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
/** The line of an environment that has the commands of a package. It also tells whose demo it is. */
const commandsOf = (folder: string): string => `export PATH="$PATH:"${quoted(`${folder}/bin`)} # mooring`;

/** Shell commands that set the environment. `assets` is the folder of the control plane's binaries. Secrets stay in files of the demo that only its user can read. */
export function environmentOf(access: Access, assets: string): string {
  const { kubeconfig, endpoints, metrics, log } = access;
  const at = (name: string) => join(dirname(kubeconfig), name);
  const lines = [
    `export KUBECONFIG=${quoted(kubeconfig)}`,
    `export PATH="$PATH:"${quoted(assets)} # kubectl`,
    `command -v kubectl >/dev/null || echo '${noKubectl}' >&2`,
    commandsOf(checkout),
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
  writeFileSync(fileOf(env, pid, "starting"), `${commandsOf(checkout)}\n`, { mode: 0o600 });
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
 * `mooring demo env`: prints the environment of the latest demo of its own checkout, or of the demo with the process id
 * `chosen`. While that one starts, it waits for its platform, which the first time takes minutes. Another checkout may
 * have other commands and samples, so its demo is only printed when it is chosen. Removes the files of killed demos.
 */
export async function envCommand(chosen: number | undefined, env: NodeJS.ProcessEnv = process.env): Promise<number> {
  const isMeant = ({ pid, folder }: Demo) => (chosen === undefined ? folder === checkout : pid === chosen);
  const found = (stage: Stage) => demos(env, stage).filter(isMeant);
  const [first] = found("starting");
  if (first !== undefined && found("env").length === 0) {
    const wait = "waiting until its platform runs, the first time for up to five minutes";
    console.error(`mooring demo env: demo ${first.pid} is starting: ${wait}; Ctrl-C ends the waiting`);
    while (found("env").length === 0 && found("starting").length > 0) await delay(POLL_MS);
  }
  const [last, ...others] = found("env");
  if (last !== undefined) {
    const pids = others.map(({ pid }) => pid).join(", ");
    const several = `demo ${last.pid}, the last one; also running: ${pids}: --demo chooses one`;
    if (others.length > 0) console.error(`mooring demo env: ${several}`);
    process.stdout.write(last.text);
    return 0;
  }
  const start = "start one with bin/mooring demo";
  const problem =
    first === undefined
      ? nothingMeant(chosen, [...demos(env, "env"), ...demos(env, "starting")], start)
      : `demo ${first.pid} ended before its platform ran: ${start}`;
  console.error(`mooring demo env: ${problem}`);
  return 1;
}

/** A demo that is not meant can still be chosen. */
function nothingMeant(chosen: number | undefined, running: readonly Demo[], start: string): string {
  const others = [...new Map(running.map((demo) => [demo.pid, demo])).values()];
  if (others.length === 0) return `no demo ${chosen === undefined ? "" : `${chosen} `}is running: ${start}`;
  const choices = others.map(({ pid, folder }) => `demo ${pid} of ${folder}: --demo ${pid} chooses it`).join("; ");
  const what = chosen === undefined ? `of ${checkout} is running: ${start}; there is` : `${chosen} is running:`;
  return `no demo ${what} ${choices}`;
}

interface Demo {
  pid: number;
  text: string;
  /** The package that it runs from. */
  folder: string;
}

/** Running demos of a stage, latest first. */
function demos(env: NodeJS.ProcessEnv, stage: Stage): Demo[] {
  const all = names(folderOf(env)).flatMap((name) => {
    const [number, found] = name.split(".");
    if (found !== stage) return [];
    const path = join(folderOf(env), name);
    const file = isAlive(Number(number)) ? readIfThere(path) : undefined;
    if (file !== undefined) return [{ pid: Number(number), folder: folderIn(file.text), ...file }];
    rmSync(path, { force: true });
    return [];
  });
  return all.sort((a, b) => b.since - a.since);
}

/** The package of a demo: its own, if its environment has the commands of this one. */
function folderIn(text: string): string {
  if (text.includes(`${commandsOf(checkout)}\n`)) return checkout;
  return /^export PATH="\$PATH:"'(.*)\/bin' # mooring$/m.exec(text)?.[1] ?? "another checkout";
}

/** A file and when it was written; undefined if its demo has just removed it. */
function readIfThere(path: string): { text: string; since: number } | undefined {
  try {
    return { text: readFileSync(path, "utf8"), since: statSync(path).mtimeMs };
  } catch {
    return undefined;
  }
}

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
