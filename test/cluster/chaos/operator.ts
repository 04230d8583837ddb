import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { WebSocket } from "undici";
import { z } from "zod";
import { spawnGuarded } from "../../../src/cli/control-plane/guarded.ts";
import { keepStreams } from "../../run/kept-output.ts";
import { mainFile } from "../../run/program.ts";
import { until } from "./wait.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const ready = z.object({ metrics: z.string() });

/** Simulators of tests are on this machine. */
export const onThisMachine = ["--allow-endpoint", "http://127.0.0.1:*"];

/** Short timeouts, so that a lost creation is resolved within seconds. */
export const shortTimeouts = [
  ...onThisMachine,
  "--create-deadline",
  "3s",
  "--settle",
  "3s",
  "--retry",
  "1s",
  "--poll",
  "500ms",
];

/** The operator as a separate process, which tests can freeze, kill and inspect. */
export interface OperatorProcess {
  readonly pid: number;
  /** Its whole log. */
  log(): string;
  signal(name: NodeJS.Signals): void;
  /** Its exit code; undefined while it runs. */
  exitCode(): number | undefined;
  readonly ended: Promise<number>;
  /** The value of a metric, summed over its labels. */
  metric(name: string): Promise<number>;
  /** Used bytes of the heap after a garbage collection. */
  heapInUse(): Promise<number>;
  /** Whether it runs and holds the Lease. */
  leads(): boolean;
  untilLeading(): Promise<void>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number>;
}

/** Another time than the machine's: a wall clock that is ahead, or all clocks shifted as a file says. */
export type OtherTime = { aheadSeconds: number } | { clockFile: string };

const preloadFor = (time: OtherTime): string =>
  "clockFile" in time
    ? `file://${root}test/clocks/moved-clock.ts?file=${encodeURIComponent(time.clockFile)}`
    : `file://${root}test/clocks/shifted-clock.ts?seconds=${time.aheadSeconds}`;

interface StartOptions {
  time?: OtherTime | undefined;
  pod?: string | undefined;
  /** The main file of another version. */
  main?: string | undefined;
}

/** Starts the operator and resolves when it serves its metrics. It lives at most as long as this process. */
export async function startOperator(
  kubeconfig: string,
  flags: readonly string[],
  { time, pod, main = mainFile() }: StartOptions = {},
): Promise<OperatorProcess> {
  // The inspector, on a free port of this machine, lets a test trigger a garbage collection.
  const args = [
    "--inspect=127.0.0.1:0",
    ...(time ? ["--import", preloadFor(time)] : []),
    main,
    "operator",
    "--json",
    // One namespace has the objects of many.
    "--limit",
    "Account=1000",
    "--kubeconfig",
    kubeconfig,
    ...flags,
  ];
  const child = spawnGuarded(`${root}node_modules/node/bin/node`, args, {
    cwd: root,
    output: "pipe",
    env: { ...process.env, ...(pod !== undefined && { POD_NAME: pod }) },
  });
  const { pid, stdout, stderr } = child;
  if (pid === undefined || !stdout || !stderr) throw new Error("the operator could not be started");
  keepStreams("operator", stdout, stderr);
  let log = "";
  let exitCode: number | undefined;
  void child.ended.then((code) => {
    exitCode = code;
  });
  stderr.setEncoding("utf8").on("data", (chunk) => {
    log += chunk;
  });
  const signal = (name: NodeJS.Signals) => {
    if (exitCode === undefined) process.kill(pid, name);
  };
  const first = await createInterface({ input: stdout })[Symbol.asyncIterator]().next();
  if (first.done) throw new Error(`the operator ended with ${await child.ended}:\n${log}`);
  const { metrics } = ready.parse(JSON.parse(first.value));
  const metric = async (name: string): Promise<number> => {
    const lines = (await (await fetch(metrics)).text()).split("\n").filter((line) => line.startsWith(name));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
  };
  const leads = () => exitCode === undefined && /"msg":"became leader"/.test(log);
  return {
    pid,
    log: () => log,
    signal,
    exitCode: () => exitCode,
    ended: child.ended,
    metric,
    async heapInUse() {
      if (exitCode !== undefined) throw new Error(`the operator ended with ${exitCode}:\n${log.slice(-5000)}`);
      await collectGarbage(/ws:\S+/.exec(log)?.[0] ?? "");
      return metric("nodejs_heap_size_used_bytes");
    },
    leads,
    untilLeading: () =>
      until(
        () => {
          if (exitCode !== undefined) throw new Error(`the operator ended with ${exitCode}:\n${log}`);
          return leads() ? undefined : `it does not lead:\n${log.slice(-1000)}`;
        },
        { title: "leading" },
      ),
    kill: child.kill,
    async stop() {
      signal("SIGCONT");
      signal("SIGTERM");
      return child.ended;
    },
  };
}

/** Triggers a garbage collection through the inspector of a process, and waits for it. */
async function collectGarbage(inspector: string): Promise<void> {
  const socket = new WebSocket(inspector);
  try {
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener("error", ({ message }) =>
        reject(new Error(`${inspector} cannot be reached: ${message}`)),
      );
      socket.addEventListener("open", () => socket.send('{"id":1,"method":"HeapProfiler.collectGarbage"}'));
      socket.addEventListener("message", () => resolve());
    });
  } finally {
    socket.close();
  }
}

/** Log lines that show a bug of the operator: an uncaught error, or a failed reconcile. */
export function defectsIn(log: string): string[] {
  return log
    .split("\n")
    .filter((line) =>
      /unhandled rejection|listener failed|"(TypeError|RangeError|ReferenceError|SyntaxError)"/.test(line),
    );
}
