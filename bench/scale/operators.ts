import { readFileSync } from "node:fs";
import { z } from "zod";
import { freePort } from "../../src/cli/control-plane/probe.ts";
import { type Running, root, start } from "../../test/processes.ts";
import { mainFile } from "../../test/run/program.ts";
import type { ContenderName } from "./options.ts";
import type { Platform } from "./platform.ts";
import { cpuOf, residentOf } from "./proc.ts";
import { untilSure } from "./waiting.ts";

/** A process of one of the two operators. */
export interface Operator {
  readonly pid: number;
  /** Seconds of CPU since it was started. */
  cpu(): number;
  /** Megabytes. */
  resident(): number;
  leads(): boolean;
  untilLeading(): Promise<void>;
  /** A metric, summed over its labels. */
  metric(name: string): Promise<number>;
  /** Reconciles so far. */
  passes(): Promise<number>;
  log(): string;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM: it gives back its Lease. */
  stop(): Promise<void>;
}

export interface Place {
  kubeconfig: string;
  platform: Platform;
  workers: number;
  /** Where CPU profiles go. */
  profile?: string | undefined;
  /** The peer's program. */
  peer?: string | undefined;
}

export interface Flags {
  resyncSeconds?: number;
  /** A container that is started again in its pod takes its Lease at once; one in another pod does not. */
  pod?: string;
}

export function startOperator(name: ContenderName, place: Place, flags: Flags = {}): Promise<Operator> {
  return name === "mooring" ? startMooring(place, flags) : startPeer(place, flags);
}

const operatorReady = z.object({ metrics: z.string() });

/** As the image starts it: the built JavaScript, with the flags for Node that are in the Dockerfile. */
async function startMooring(
  { kubeconfig, workers, profile }: Place,
  { resyncSeconds, pod = "mooring-0" }: Flags,
): Promise<Operator> {
  const args = [
    ...nodeFlags(),
    ...(profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`]),
    mainFile(),
    ...["operator", "--json", "--kubeconfig", kubeconfig, "--workers", String(workers)],
    ...["--allow-endpoint", "http://127.0.0.1:*"],
    ...(resyncSeconds === undefined ? [] : ["--resync", `${resyncSeconds}s`]),
  ];
  const running = start(`${root}node_modules/node/bin/node`, args, {
    env: { ...process.env, ...imageEnv(), POD_NAME: pod },
  });
  const { metrics } = operatorReady.parse(JSON.parse(await running.line()));
  return operator(running, metrics, '"msg":"became leader"');
}

async function startPeer({ kubeconfig, platform, workers, peer = "" }: Place, flags: Flags): Promise<Operator> {
  const address = `127.0.0.1:${await freePort()}`;
  const args = [
    ...["--endpoint", platform.url, "--metrics", address, "--workers", String(workers)],
    ...(flags.resyncSeconds === undefined ? [] : ["--resync", `${flags.resyncSeconds}s`]),
  ];
  const env = { ...process.env, KUBECONFIG: kubeconfig, PLATFORM_TOKEN: platform.token };
  const running = start(peer, args, { env });
  return operator(running, `http://${address}/metrics`, '"msg":"Starting workers"');
}

const dockerfile = () => readFileSync(`${root}Dockerfile`, "utf8");

/** The variables that the image sets for Node's allocator. */
function imageEnv(): Record<string, string> {
  const words = /^ENV (MALLOC_.*)$/m.exec(dockerfile())?.[1]?.split(" ") ?? [];
  return Object.fromEntries(words.map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]));
}

/** The flags between Node and its file in the entry point of the image. */
function nodeFlags(): string[] {
  const entry = /^ENTRYPOINT (\[.*\])$/m.exec(dockerfile())?.[1];
  const words = z.array(z.string()).parse(JSON.parse(entry ?? "[]"));
  return words.slice(1).filter((word) => word.startsWith("--"));
}

function operator(running: Running, metrics: string, leading: string): Operator {
  const { pid, ended } = running;
  let gone = false;
  void ended.then(() => {
    gone = true;
  });
  const leads = () => running.output().includes(leading);
  const metric = async (name: string) => {
    const text = await (await fetch(metrics)).text();
    const lines = text.split("\n").filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
  };
  return {
    pid,
    cpu: () => cpuOf(pid),
    resident: () => residentOf(pid),
    leads,
    untilLeading: () =>
      untilSure(
        () => {
          if (gone) throw new Error(`the operator ended:\n${running.output().slice(-3000)}`);
          return leads() ? undefined : "does not lead yet";
        },
        { title: "operator", seconds: 180 },
      ),
    metric,
    passes: () => metric("controller_runtime_reconcile_total"),
    log: running.output,
    async kill() {
      running.signal("SIGKILL");
      await ended;
    },
    async stop() {
      await running.stop();
    },
  };
}
