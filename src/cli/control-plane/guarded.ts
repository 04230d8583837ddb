import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";

/**
 * A shell that waits on a pipe and then kills its process group. Only this process holds the other end, and the kernel
 * closes it when this process dies for any reason, so no child outlives it, not even one that has just started. The
 * program replaces the outer shell, so the child's process id and exit code are those of the program.
 */
const guard = '{ read -r _ <&3; kill -KILL 0; } & exec "$@" 3<&-';

export interface Guarded {
  readonly pid: number | undefined;
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  /** Resolves when the program and all its children are gone; never rejects. 127: not found. */
  readonly ended: Promise<number>;
  /** Kills the program and all its children immediately. */
  kill(): Promise<void>;
}

export interface GuardedOptions {
  cwd: string;
  env?: NodeJS.ProcessEnv;
  /** Destination of the output: a file descriptor, or "pipe". */
  output: number | "pipe";
  /** A stream that the program keeps open while it runs. */
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
  /** The folder exists while any process holds this open. */
  readonly hold: Writable;
  /** Releases the folder and waits for its removal. */
  sweep(): Promise<void>;
}

/** Removes `folder` after this process and every program with `hold` have ended, even if all of them were killed. */
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

/** Starts in a session of its own: Ctrl-C reaches only this process, which then stops the others in order. */
function spawnDetached([command = "", ...args]: string[], options: SpawnOptions): ChildProcess {
  return spawn(command, args, { ...options, detached: true });
}

function closed(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once("error", () => resolve(127));
    child.once("close", (code) => resolve(code ?? 137));
  });
}
