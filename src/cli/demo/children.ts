import { createInterface } from "node:readline";
import { type Guarded, spawnGuarded } from "../control-plane/guarded.ts";

/** Another `mooring` process of the demo. */
export interface Child {
  readonly pid: number | undefined;
  /** The line of JSON that it printed when it was ready. */
  readonly ready: unknown;
  /** Resolves with its last output if it ends unexpectedly. */
  readonly died: Promise<Error>;
  /** Stops it and waits; kills it after a timeout. */
  stop(): Promise<void>;
}

const PATIENCE_MS = 10_000;
const LAST_LINES = 20;

/** Starts `mooring NAME … --json` and waits for its ready line. It cannot outlive this process. */
export async function startChild(name: string, args: string[], onLog?: (line: string) => void): Promise<Child> {
  const [, main = ""] = process.argv;
  const child = spawnGuarded(process.execPath, [main, name, ...args, "--json"], { cwd: process.cwd(), output: "pipe" });
  const { stdout, stderr } = child;
  if (!stdout || !stderr) throw new Error(`mooring ${name} has no output`);
  let lastLines: string[] = [];
  createInterface({ input: stderr }).on("line", (line) => {
    lastLines = [...lastLines, line].slice(-LAST_LINES);
    onLog?.(line);
  });
  let stopping = false;
  const ended = child.ended.then(
    (code) => new Error(`mooring ${name} ended with code ${code}\n${lastLines.join("\n")}`),
  );
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const first = await Promise.race([lines.next(), ended]);
  if (first instanceof Error) throw first;
  if (first.done) throw await ended;
  return {
    pid: child.pid,
    ready: JSON.parse(first.value),
    died: new Promise((resolve) => {
      void ended.then((error) => {
        if (!stopping) resolve(error);
      });
    }),
    async stop() {
      stopping = true;
      await terminate(child);
    },
  };
}

async function terminate(child: Guarded): Promise<void> {
  if (child.pid === undefined) return;
  try {
    process.kill(child.pid, "SIGTERM");
  } catch {
    // The process has already ended.
  }
  const timer = setTimeout(() => void child.kill(), PATIENCE_MS);
  await child.ended;
  clearTimeout(timer);
}
