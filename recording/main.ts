import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { type Scene, svgOf } from "./svg.ts";

/** Runs commands against a demo in a terminal, and writes what they print as docs/pictures/commands.svg. */
const root = dirname(import.meta.dirname);
const mooring = join(root, "bin/mooring");
const COLUMNS = 110;

const changes = `apiVersion: mooring.dev/v1alpha1
kind: Volume
metadata: {name: orders-data}
spec:
  datacenterRef: {name: shop}
  size: 80
  type: SSD Standard
  availabilityZone: ZONE_3
  licenceType: OTHER
  attachTo: {serverRef: {name: orders}}
---
apiVersion: mooring.dev/v1alpha1
kind: Volume
metadata: {name: photos}
spec:
  datacenterRef: {name: shop}
  size: 100
  type: SSD Premium
  licenceType: OTHER
  attachTo: {serverRef: {name: gallery}}
`;

interface Demo {
  kubeconfig: string;
  endpoints: Record<string, string>;
  token: string;
}

/** Waits until all objects of the demo are Ready. Returns the JSON that it prints then. */
async function readyDemo(demo: ChildProcess): Promise<Demo> {
  if (!demo.stdout) throw new Error("the demo has no output");
  for await (const line of createInterface({ input: demo.stdout })) return JSON.parse(line);
  throw new Error("the demo ended");
}

async function record(folder: string, { kubeconfig, endpoints, token }: Demo): Promise<Scene[]> {
  const env = {
    ...process.env,
    KUBECONFIG: kubeconfig,
    MOORING_ENDPOINTS: JSON.stringify(endpoints),
    MOORING_TOKEN: token,
    TERM: "xterm-256color",
  };
  const run = (command: string): Scene => {
    const program = command.replace(/^mooring/, `'${mooring}'`);
    const shell = `stty cols ${COLUMNS} rows 60; ${program}`;
    const { stdout } = spawnSync("script", ["-qec", shell, "/dev/null"], { cwd: folder, env, encoding: "utf8" });
    return { command, output: stdout };
  };
  const scenes = [
    run("mooring tree -n demo"),
    run("mooring plan -n demo -f changes.yaml"),
    run("kubectl apply --server-side --force-conflicts -n demo -f changes.yaml"),
  ];
  const reason = "kubectl get volume photos -n demo -o 'jsonpath={.status.conditions[*].reason}'";
  while (!/\w/.test(run(reason).output.replace("Pending", ""))) await setTimeout(500);
  return [...scenes, run("mooring why volume/photos -n demo")];
}

const folder = mkdtempSync(join(tmpdir(), "mooring-recording-"));
const demo = spawn(mooring, ["demo", "--json", "--speed", "20"], { stdio: ["ignore", "pipe", "inherit"] });
const ended = new Promise((resolve) => demo.once("exit", resolve));
process.once("SIGINT", () => demo.kill("SIGINT"));
try {
  writeFileSync(join(folder, "changes.yaml"), changes);
  const scenes = await record(folder, await readyDemo(demo));
  const path = join(root, "docs/pictures/commands.svg");
  const before = readFileSync(path, { encoding: "utf8", flag: "a+" });
  const picture = svgOf(scenes, COLUMNS);
  writeFileSync(path, picture);
  console.log(picture === before ? "docs/pictures/commands.svg is up to date" : "wrote docs/pictures/commands.svg");
} finally {
  demo.kill("SIGINT");
  await ended;
  rmSync(folder, { recursive: true, force: true });
}
