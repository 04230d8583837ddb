import { execFile } from "node:child_process";
import { on } from "node:events";
import { basename } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { spawnGuarded } from "../src/cli/control-plane/guarded.ts";
import { atEnd } from "./ending.ts";
import { keepStreams, keepText } from "./run/kept-output.ts";

export const root = fileURLToPath(new URL("../", import.meta.url));

/** The command as users call it. */
export const mooring = `${root}bin/mooring`;

export interface Result {
  code: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  input?: string;
}

/** Runs a program to its end. Never rejects because of the exit code. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Result> {
  const { cwd = root, env = process.env, input = "" } = options;
  return new Promise((resolve) => {
    const settings = { cwd, env, maxBuffer: 256 * 1024 * 1024 };
    const child = execFile(command, args, settings, (error, stdout, stderr) => {
      if (basename(command) === "mooring") keepText(`mooring-${args[0]}`, stdout + stderr);
      const code = error ? (child.exitCode ?? 127) : 0;
      resolve({ code, stdout, stderr });
    });
    child.stdin?.on("error", () => {}); // a program that ends without reading its input is not an error
    child.stdin?.end(input);
  });
}

export interface Running {
  readonly pid: number;
  /** Its output so far, both streams. */
  output(): string;
  /** The next line on stdout; rejects, with all output, when the process ends without one. */
  line(): Promise<string>;
  signal(name: NodeJS.Signals): void;
  /** The exit code; 137 after a kill. */
  readonly ended: Promise<number>;
  /** Sends SIGTERM and waits. */
  stop(): Promise<number>;
}

/** Starts a long-running program. It ends with the test file at the latest, even if that fails or is interrupted. */
export function start(command: string, args: readonly string[], options: RunOptions = {}): Running {
  const { cwd = root, env = process.env } = options;
  const child = spawnGuarded(command, args, { cwd, env, output: "pipe" });
  const { pid, stdout, stderr } = child;
  if (pid === undefined || !stdout || !stderr) throw new Error(`${command} could not be started`);
  let running = true;
  void child.ended.then(() => {
    running = false;
  });
  atEnd(child.kill);

  keepStreams(`${basename(command)}-${args[0]}`, stdout, stderr);
  let output = "";
  for (const stream of [stdout, stderr]) stream.setEncoding("utf8").on("data", (chunk) => (output += chunk));
  // Not the iterator of readline itself, which stops the program after 1,024 lines that nobody has taken.
  const lines = on(createInterface({ input: stdout }), "line", { close: ["close"] });
  const signal = (name: NodeJS.Signals) => {
    if (running) process.kill(pid, name);
  };
  return {
    pid,
    output: () => output,
    async line() {
      const next = await lines.next();
      if (next.done) throw new Error(`${command} ${args.join(" ")} ended with ${await child.ended}:\n${output}`);
      return z.tuple([z.string()]).parse(next.value)[0];
    },
    signal,
    ended: child.ended,
    stop() {
      signal("SIGTERM");
      return child.ended;
    },
  };
}

/** Starts a program that prints one line of JSON when it is ready. */
export async function startProcess(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Running & { readonly ready: unknown }> {
  const running = start(command, args, options);
  return { ...running, ready: JSON.parse(await running.line()) };
}
