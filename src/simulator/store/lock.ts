import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** Directories that this process holds: a pid alone does not tell two holders in one process apart. */
const held = new Set<string>();

/**
 * Locks a directory for one process, by a file with its pid. The lock of a dead process is replaced. Throws with the
 * holder's pid while the holder is alive. The returned function unlocks.
 */
export function lockDirectory(directory: string): () => void {
  const file = join(resolve(directory), "lock");
  const own = `${process.pid} ${startOf(process.pid)}`;
  if (held.has(file)) throw new DirectoryTaken(directory, process.pid);
  const claim = `${file}.${process.pid}`;
  writeFileSync(claim, own, { mode: 0o600 });
  try {
    for (;;) {
      if (linked(claim, file)) break;
      const holder = readIfThere(file);
      if (holder === undefined) continue;
      const pid = Number(holder.split(" ")[0]);
      if (isAlive(holder) && holder !== own) throw new DirectoryTaken(directory, pid);
      discard(file, holder);
    }
  } finally {
    rmSync(claim, { force: true });
  }
  held.add(file);
  return () => {
    if (held.delete(file)) rmSync(file, { force: true });
  };
}

export class DirectoryTaken extends Error {
  /** The pid of the process that has it. */
  readonly holder: number;

  constructor(directory: string, holder: number) {
    super(
      `the data directory ${directory} is in use by the process ${holder}; stop that one or choose another directory`,
    );
    this.name = "DirectoryTaken";
    this.holder = holder;
  }
}

/** Creates the lock with its content in one step; false when it exists. */
function linked(claim: string, file: string): boolean {
  try {
    linkSync(claim, file);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Moves a stale lock away, and back again if another process replaced it in between. */
function discard(file: string, stale: string): void {
  const stalePath = `${file}.${process.pid}.stale`;
  try {
    renameSync(file, stalePath);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    throw error;
  }
  if (readIfThere(stalePath) !== stale) linked(stalePath, file);
  rmSync(stalePath, { force: true });
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Pids are used again; together with the start time they are not. */
function isAlive(holder: string): boolean {
  const [pid, start] = holder.split(" ");
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if (codeOf(error) !== "EPERM") return false;
  }
  return startOf(Number(pid)) === start;
}

/** The start time of a process, from the kernel; `unknown` where the kernel does not provide it. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "unknown";
  } catch {
    return "unknown";
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
