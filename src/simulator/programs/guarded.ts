import { type ChildProcess, spawn } from "node:child_process";

/**
 * A shell that waits on a pipe whose other end only this process holds, and then kills its process group. The kernel
 * closes that end when this process dies, however that happens, so the program cannot outlive it.
 */
const guard = '{ read -r _ <&3; kill -KILL 0; } & exec "$@" 3<&-';

export interface Guarded {
  /** Settles when the program is gone; never rejects. 127: not found. */
  readonly ended: Promise<number>;
  /** The end of the program's output so far. */
  lastWords(): string;
  /** Kills the program with everything it started. */
  kill(): Promise<void>;
}

const longestWords = 4000;

export function spawnGuarded(command: string, args: string[], cwd: string, env: NodeJS.ProcessEnv): Guarded {
  const child = spawn("/bin/sh", ["-c", guard, "sh", command, ...args], {
    cwd,
    env,
    // A session of its own: Ctrl-C reaches this process only, which then ends the other.
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  let words = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      words = (words + text).slice(-longestWords);
    });
  }
  const release = () => child.stdio[3]?.destroy();
  child.once("exit", release);
  const ended = closed(child);
  return {
    ended,
    lastWords: () => words.trim(),
    async kill() {
      release();
      await ended;
    },
  };
}

function closed(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once("error", () => resolve(127));
    child.once("close", (code) => resolve(code ?? 137));
  });
}
