import { closeSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Guarded, spawnGuarded } from "../../src/cli/control-plane/guarded.ts";
import { mainFile } from "../program.ts";
import type { AccountKind } from "./lives.ts";

/** The operator counts on a platform that has executed and shows what it was sent after this time. */
export const SETTLE_SECONDS = 1;

/** Patience of the operator under test: short, so that waiting out a lost creation takes seconds. */
export const patience = {
  "create-deadline": "2s",
  settle: `${SETTLE_SECONDS}s`,
  retry: "1s",
  poll: "300ms",
  "annotate-after": "500ms",
};

export interface OperatorOptions {
  kubeconfig: string;
  /** The operator's own, and of all objects. */
  namespace: string;
  account: AccountKind;
  /** Everything its processes log, one after the other. */
  log: string;
  /** Compiled code is kept here, by the first process that is not killed, unless a test run keeps it: half of what a start costs. */
  cache: string;
  /** The source of the version that runs until the first kill; absent: this one. */
  former?: string | undefined;
  /** Each process is in a pod of its own, as after the loss of a node; else all are in the same pod. */
  elsewhere: boolean;
  /** There are two operators beside each other: the shard of this one, "" for the one without. */
  shard?: string | undefined;
}

/** One operator that is killed and started again; never two of its processes at the same time. */
export interface Operator {
  /** Which process runs now, counted from 1. */
  readonly process: number;
  /** What a process that was not killed ended with. */
  readonly ended: number | undefined;
  start(): void;
  /** SIGKILL, sent before this returns, and the next process right after it. */
  restart(): void;
  /** Asks it to end, as a cluster does. Only a process that ends by itself leaves its compiled code to the others. */
  stop(): Promise<void>;
  /** SIGSTOP and SIGCONT. */
  freeze(): void;
  thaw(): void;
  kill(): Promise<void>;
}

const root = fileURLToPath(new URL("../../", import.meta.url));

type Place = Pick<OperatorOptions, "kubeconfig" | "namespace" | "account" | "shard">;

export const flagsOf = ({ kubeconfig, namespace, account, shard }: Place): string[] => [
  "--no-leader-election",
  ...["--allow-endpoint", "http://127.0.0.1:*"],
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
