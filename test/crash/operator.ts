import { closeSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Guarded, spawnGuarded } from "../../src/cli/control-plane/guarded.ts";
import { mainFile } from "../run/program.ts";
import type { AccountKind } from "./lives/lives.ts";

/** The operator expects that the platform executes and shows a request within this time. */
export const SETTLE_SECONDS = 4;

/** Timeouts of the operator under test: short, so that a lost creation is resolved within seconds. */
export const patience = {
  "create-deadline": "2s",
  settle: `${SETTLE_SECONDS}s`,
  retry: "1s",
  poll: "300ms",
  "annotate-after": "500ms",
};

export interface OperatorOptions {
  kubeconfig: string;
  /** The namespace of the operator and of all objects. */
  namespace: string;
  account: AccountKind;
  /** The log of all its processes. */
  log: string;
  /**
   * Cache of compiled code, which is half of the start time. The first process that is not killed writes it, unless a
   * test run has one.
   */
  cache: string;
  /** The source of the version that runs until the first kill; absent: this version. */
  former?: string | undefined;
  /** Each process is in another pod, as after the loss of a node; otherwise all are in the same pod. */
  elsewhere: boolean;
  /** With two operators: the shard of this one, "" for the one without a shard. */
  shard?: string | undefined;
}

/** One operator that is killed and restarted; never two of its processes at the same time. */
export interface Operator {
  /** The number of the current process, from 1. */
  readonly process: number;
  /** The exit code of a process that was not killed. */
  readonly ended: number | undefined;
  start(): void;
  /** Sends SIGKILL before it returns, and starts the next process right after it. */
  restart(): void;
  /** Sends SIGTERM, as a cluster does. Only a process that exits normally writes its compiled code to the cache. */
  stop(): Promise<void>;
  /** SIGSTOP and SIGCONT. */
  freeze(): void;
  thaw(): void;
  kill(): Promise<void>;
}

/** The label on the resources that the operator creates. */
export const CLUSTER_NAME = "crash";

const root = fileURLToPath(new URL("../../", import.meta.url));

type Place = Pick<OperatorOptions, "kubeconfig" | "namespace" | "account" | "shard">;

export const flagsOf = ({ kubeconfig, namespace, account, shard }: Place): string[] => [
  "--no-leader-election",
  ...["--allow-endpoint", "http://127.0.0.1:*", "--cluster-name", CLUSTER_NAME],
  ...["--kubeconfig", kubeconfig, "--namespace", namespace],
  ...(shard ? ["--shard", shard] : []),
  ...(account === "Account" && shard === undefined ? ["--watch-namespace", namespace] : []),
  ...Object.entries(patience).flatMap(([flag, value]) => [`--${flag}`, value]),
];

export function createOperator(options: OperatorOptions): Operator {
  let running: Guarded | undefined;
  let started = 0;
  let ended: number | undefined;

  function start(): void {
    const output = openSync(options.log, "a", 0o600);
    const former = started === 0 ? options.former : undefined;
    const args = [
      former === undefined ? mainFile() : `${former}/src/main.ts`,
      "operator",
      "--log-level",
      "debug",
      ...flagsOf(options),
    ];
    const name = options.shard ? `mooring-${options.shard}` : "mooring";
    const pod = options.elsewhere ? `${name}-${started}` : `${name}-0`;
    const env = { NODE_COMPILE_CACHE: options.cache, ...process.env, POD_NAME: pod };
    const child = spawnGuarded(process.execPath, args, { cwd: former ?? root, env, output });
    closeSync(output);
    running = child;
    started += 1;
    void child.ended.then((code) => {
      if (running === child) ended = code;
    });
  }

  function signal(name: "SIGKILL" | "SIGTERM"): Guarded | undefined {
    const child = running;
    running = undefined;
    if (child?.pid !== undefined && ended === undefined) process.kill(child.pid, name);
    return child;
  }

  const send = (name: "SIGSTOP" | "SIGCONT") => {
    if (running?.pid !== undefined && ended === undefined) process.kill(running.pid, name);
  };
  return {
    get process() {
      return started;
    },
    get ended() {
      return ended;
    },
    start,
    restart() {
      signal("SIGKILL");
      start();
    },
    async stop() {
      await signal("SIGTERM")?.ended;
    },
    freeze: () => send("SIGSTOP"),
    thaw: () => send("SIGCONT"),
    async kill() {
      await signal("SIGKILL")?.kill();
    },
  };
}
