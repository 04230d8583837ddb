import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";

/**
 * The guard: a shell that waits on a pipe whose other end only this process holds, and then kills its process group.
 * The kernel closes that end when this process dies, whatever the reason, so nothing started here outlives it;
 * there is no moment between start and registration. The program itself replaces the outer shell, so its process id
 * and exit code are direct.
 */
const guard = '{ read -r _ <&3; kill -KILL 0; } & exec "$@" 3<&-';

export interface Guarded {
  readonly pid: number | undefined;
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  /** Settles when the program and everything it started are gone; never rejects. 127: not found. */
  readonly ended: Promise<number>;
  /** Kills the program and everything it started at once. */
  kill(): Promise<void>;
}

export interface GuardedOptions {
  cwd: string;
  env?: NodeJS.ProcessEnv;
  /** Where output goes: a file descriptor, or "pipe". */
  output: number | "pipe";
  /** A stream the program keeps open as long as it lives. */
  hold?: Writable | undefined;
}

export function spawnGuarded(command: string, args: readonly string[], options: GuardedOptions): Guarded {
  const child = spawnDetached(["/bin/sh", "-c", guard, "sh", command, ...args], {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ["ignore", options.output, options.output, "pipe", options.hold ?? "ignore"],
  });
  const release = () => child.stdio[3]?.destroy();
  child.once("exit", release);
  const ended = closed(child);
  return {
    pid: child.pid,
    stdout: child.stdout,
    stderr: child.stderr,
    ended,
    async kill() {
      release();
      await ended;
    },
  };
}

export interface Sweeper {
  /** The folder stays as long as anybody holds this open. */
  readonly hold: Writable;
  /** Lets go of the folder and waits until it is removed. */
  sweep(): Promise<void>;
}

/** Removes `folder` once this process and every program given `hold` are gone, even when all of them were killed. */
export function sweepAfterwards(folder: string): Sweeper {
  const child = spawnDetached(["/bin/sh", "-c", 'read -r _; rm -rf -- "$1"', "sh", folder], {
    cwd: "/",
    stdio: ["pipe", "ignore", "ignore"],
  });
  const { stdin } = child;
  if (!stdin) throw new Error("a piped stdin was asked for and not given");
  const ended = closed(child);
  return {
    hold: stdin,
    async sweep() {
      stdin.destroy();
      await ended;
    },
  };
}

/** In a session of its own: Ctrl-C in the terminal reaches this process only, which then ends the others in order. */
function spawnDetached([command = "", ...args]: string[], options: SpawnOptions): ChildProcess {
  return spawn(command, args, { ...options, detached: true });
}

function closed(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once("error", () => resolve(127));
    child.once("close", (code) => resolve(code ?? 137));
  });
}
