import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { spawnGuarded } from "../../src/cli/control-plane/guarded.ts";
import { keepStreams } from "../run/kept-output.ts";
import { callerFor } from "./platform.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const program =
  'import("./src/simulator/command.ts").then(async (m) => process.exit(await m.simulatorCommand(process.argv.slice(1))));';

const owner = {
  contractNumber: z.int(),
  username: z.string(),
  password: z.string(),
  token: z.string(),
  s3: z.strictObject({ accessKey: z.string(), secretKey: z.string() }),
};
const readyShape = z.strictObject({
  ready: z.literal(true),
  endpoints: z.strictObject({
    api: z.url(),
    objectStorage: z.url(),
    monitoring: z.string(),
    logging: z.string(),
    streaming: z.string(),
    inference: z.string(),
    dns: z.string(),
    certificates: z.string(),
    objectStorageManagement: z.string(),
  }),
  ...owner,
  contracts: z.array(z.strictObject(owner)),
  certificates: z.strictObject({ ca: z.string().startsWith("-----BEGIN CERTIFICATE-----") }),
});

/** The simulator as its own process, as a user starts it, but without brokers unless they are asked for. It ends with this process. */
export function startProcess(argv: string[], env: NodeJS.ProcessEnv = {}) {
  const args = ["--eval", program, "--", "--kafka", "off", ...argv];
  const child = spawnGuarded(`${root}/node_modules/.bin/node`, args, {
    cwd: root,
    env: { ...process.env, ...env },
    output: "pipe",
  });
  const { pid } = child;
  if (pid === undefined || child.stdout === null || child.stderr === null) throw new Error("no simulator was started");
  keepStreams("simulator", child.stdout, child.stderr);
  let running = true;
  const exit = child.ended.finally(() => {
    running = false;
  });
  const kill = (signal: NodeJS.Signals) => {
    if (running) process.kill(pid, signal);
  };
  let stdout = "";
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const lines = createInterface(child.stdout);
  lines.on("line", (line) => {
    stdout += `${line}\n`;
  });
  const firstLine = new Promise<string>((resolve) => lines.once("line", resolve));
  return {
    /** The exit code; 137 when it was killed. */
    exit,
    stdout: () => stdout,
    stderr: () => stderr,
    firstLine,
    kill,
    /** Waits for the ready line of `--json` and gives a caller. */
    async platform() {
      const { ready: _, ...ready } = readyShape.parse(JSON.parse(await firstLine));
      return callerFor({ ready, close: async () => kill("SIGTERM") });
    },
  };
}
