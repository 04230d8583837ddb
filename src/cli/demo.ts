import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { z } from "zod";
import { connect } from "../kube/client/config.ts";
import type { KubeClient } from "../kube/client/transport.ts";
import { progressTo } from "./control-plane/progress.ts";
import { startCluster } from "./control-plane/start.ts";
import { backgroundNote } from "./demo/background.ts";
import { startChild } from "./demo/children.ts";
import { type Access, announceStart, envCommand, writeEnvironment } from "./demo/env.ts";
import {
  applySamples,
  installAsShipped,
  type Part,
  parts,
  writeKubeconfig,
  writeOperatorKubeconfig,
} from "./demo/install.ts";
import { onKey } from "./demo/keys.ts";
import { createLogView } from "./demo/log.ts";
import { keepOperator } from "./demo/operator.ts";
import { patient } from "./demo/patience.ts";
import { createDisplay, format, type Row, readRows } from "./demo/table.ts";

export const usage = `usage: mooring demo [OPTION…]
       mooring demo env [--demo PID]

Starts a Kubernetes API, the platform simulator and the operator on this machine, applies deploy/samples/landscape.yaml
and shows its objects become Ready. Ctrl-C stops and removes everything. On a terminal, l shows and hides the operator's log.

mooring demo env prints what another terminal needs: eval "$(bin/mooring demo env)"; while a demo starts, it waits for it.
It chooses the latest demo of the checkout that it is run from; --demo PID chooses any.

  --with PART,…    also apply samples: observability (metrics and logs), streaming (Kafka; needs Java and Maven), access
                   (ClusterAccount, Grant, tokens, models, activity log)
  --all            all of these: an object of every kind
  --once           exit 0 when all objects are Ready, 1 with the reasons after --timeout
  --timeout N      seconds that --once waits (default 180)
  --speed X        speed of the simulated platform (default 1); above 1 its clock runs ahead, and Accounts show ClockSkew
  --demo PID       only of mooring demo env: the demo with this process id
  --json           print one line of JSON when all are Ready: kubeconfig, namespace, endpoints, token, s3 (keys),
                   certificates (ca), metrics, log
  -h, --help       show this help`;

export const options = {
  with: { type: "string", default: "" },
  all: { type: "boolean", default: false },
  once: { type: "boolean", default: false },
  timeout: { type: "string", default: "180" },
  speed: { type: "string", default: "1" },
  demo: { type: "string" },
  json: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

const NAMESPACE = "demo";
const simulatorReady = z.object({
  endpoints: z.record(z.string(), z.string()),
  token: z.string(),
  s3: z.object({ accessKey: z.string(), secretKey: z.string() }),
  certificates: z.object({ ca: z.string() }),
});

interface DemoOptions {
  chosen: Part[];
  once: boolean;
  json: boolean;
  waitMs: number;
  speed: string;
}

/** `mooring demo`: a control plane, the simulator and the operator on one machine. */
export async function demoCommand(argv: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args: argv, options, allowPositionals: true });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const [word, ...more] = positionals;
  const isEnv = word === "env" && more.length === 0;
  const pid = values.demo === undefined ? undefined : Number(values.demo);
  if (pid !== undefined && !(isEnv && pid > 0)) {
    const what = isEnv ? "give the process id of a demo" : "only mooring demo env has it";
    console.error(`mooring demo: --demo ${values.demo}: ${what}`);
    return 2;
  }
  if (isEnv) return await envCommand(pid);
  if (word !== undefined) {
    console.error(`mooring demo: unexpected argument ${word}; only env is known: mooring demo env`);
    return 2;
  }
  const named = values.all ? Object.keys(parts) : values.with.split(",").filter((name) => name !== "");
  const wrong = named.find((name) => !isPart(name));
  if (wrong !== undefined) {
    console.error(`mooring demo: --with ${wrong}: unknown; valid: ${Object.keys(parts).join(", ")}`);
    return 2;
  }
  const { once, json, speed } = values;
  const seconds = Number(values.timeout);
  if (!(seconds > 0)) {
    console.error(`mooring demo: --timeout ${values.timeout}: give a number of seconds, for example 180`);
    return 2;
  }
  const waitMs = once ? seconds * 1000 : Number.POSITIVE_INFINITY;
  const chosen = [...new Set<Part>(["compute", ...named.filter(isPart)])];
  const interrupt = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => interrupt.abort());
  try {
    return await demo({ chosen, once, json, waitMs, speed }, interrupt);
  } catch (error) {
    if (interrupt.signal.aborted) return once ? 130 : 0;
    throw error;
  }
}

const isPart = (name: string): name is Part => Object.hasOwn(parts, name);

async function demo({ chosen, once, json, waitMs, speed }: DemoOptions, interrupt: AbortController): Promise<number> {
  const { signal } = interrupt;
  // With --json, programs read only the last line of stdout.
  const out = json ? process.stderr : process.stdout;
  const say = (text: string) => void out.write(`${text}\n`);
  await using cleanup = new AsyncDisposableStack();
  cleanup.use(announceStart());
  // The simulator starts immediately, and its dashboard is usable while the control plane is built.
  const simulator = await startChild("simulator", ["--speed", speed]);
  cleanup.defer(() => simulator.stop());
  const platform = simulatorReady.parse(simulator.ready);
  const { endpoints } = platform;
  say(`simulator    ${endpoints.api}`);
  say(`storage      ${endpoints.objectStorage}`);

  const progress = progressTo(process.stderr);
  const background = backgroundNote(out);
  const cluster = await startCluster({
    controllerManager: true,
    onProgress: progress.update,
    onBackground: background.update,
    signal,
  });
  progress.end();
  cleanup.defer(() => cluster.stop());
  void cluster.controllers.then((problem) => {
    if (!signal.aborted) background.end(problem);
  });
  const died = Promise.race([cluster.died, simulator.died]);
  const dead = new AbortController();
  void died.then((error) => dead.abort(error));
  const until = AbortSignal.any([signal, dead.signal]);
  const client = await connect({ kubeconfig: cluster.kubeconfig });
  cleanup.defer(() => client.close());
  const calls = patient(client, { tell: say, until });
  const at = (name: string) => join(dirname(cluster.kubeconfig), name);
  const kubeconfig = at("demo.kubeconfig");
  await writeKubeconfig(kubeconfig, cluster.kubeconfig, { namespace: NAMESPACE });
  say(`kubernetes   ${cluster.server}`);
  const known = { kubeconfig, namespace: NAMESPACE, ...platform, log: at("operator.log") };
  cleanup.use(await writeEnvironment(known, cluster.assets));
  say('environment  eval "$(bin/mooring demo env)"   # in another terminal');

  await installAsShipped(calls);
  await writeOperatorKubeconfig(calls, cluster.kubeconfig, at("operator.kubeconfig"));
  const endpointFlags = Object.entries(endpoints).flatMap(([name, url]) => ["--endpoint", `${name}=${url}`]);
  const kubeconfigFlags = ["--kubeconfig", at("operator.kubeconfig")];
  const log = createLogView(at("operator.log"), say);
  const flags = [...kubeconfigFlags, ...endpointFlags, "--log-format", "text"];
  const operator = await keepOperator(flags, log.add);
  cleanup.defer(() => operator.stop());
  say(`operator     ${operator.metrics}, process ${operator.pid}`);
  const access = { ...known, metrics: operator.metrics };
  cleanup.use(await writeEnvironment(access, cluster.assets));

  await applySamples(calls, NAMESPACE, platform, chosen);
  say(`samples      applied into namespace ${NAMESPACE}\n`);
  cleanup.use(onKey(process.stdin, { l: log.toggle, "\u0003": () => interrupt.abort() }));
  const watching = { waitMs, until, out, hidden: () => log.shown, note: background.note };
  const rows = await untilReady(client, watching);
  const notReady = rows.filter(({ ready }) => ready !== "True");
  if (notReady.length > 0) return reportNotReady(notReady);

  if (json) {
    // The caller's next step may need garbage collection.
    const problem = once ? undefined : await cluster.controllers;
    if (problem) throw problem;
    console.log(JSON.stringify({ ready: true, ...access }));
  } else if (!once) say(nextSteps(access, background.note()));
  if (once) return 0;
  background.announce(say);
  const ended = new Promise<undefined>((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
  const death = await Promise.race([died, ended]);
  if (death) throw death;
  return 0;
}

const POLL_MS = 500;

interface Watching {
  waitMs: number;
  /** Aborted when a process of the demo has ended, or by Ctrl-C. */
  until: AbortSignal;
  out: NodeJS.WriteStream;
  /** Whether the log covers the table. */
  hidden: () => boolean;
  /** A note about background work. */
  note: () => string | undefined;
}

/** Shows the objects until all are Ready or the time is over. Returns their last state. */
async function untilReady(client: KubeClient, { waitMs, until, out, hidden, note }: Watching): Promise<Row[]> {
  const display = createDisplay(out);
  const startedAt = Date.now();
  const late = new AbortController();
  const giveUp = () => late.abort(new Error(`the API server of the demo gave no answer in ${waitMs / 1000} s`));
  // Half a minute more than the objects have: the deadline of a call.
  using stack = new DisposableStack();
  if (Number.isFinite(waitMs)) stack.adopt(setTimeout(giveUp, waitMs + 30_000), clearTimeout);
  const tell = (text: string) => {
    display.leave();
    out.write(`${text}\n`);
  };
  const calls = patient(client, { tell, until: AbortSignal.any([until, late.signal]) });
  for (;;) {
    const now = Date.now();
    const rows = await readRows(calls, NAMESPACE, now);
    if (hidden()) display.leave();
    else display.show(rows, note());
    if (rows.every(({ ready }) => ready === "True") || now - startedAt > waitMs) return rows;
    await delay(POLL_MS, undefined, { signal: until }).catch(() => until.throwIfAborted());
  }
}

function reportNotReady(rows: Row[]): number {
  console.error(`\nnot Ready:\n${format(rows).join("\n")}`);
  for (const { kind, name, message } of rows) console.error(`${kind}/${name}: ${message}`);
  return 1;
}

function nextSteps({ metrics, log }: Access, note: string | undefined): string {
  return `
All are Ready. In another terminal:

  eval "$(bin/mooring demo env)"

  kubectl get mooring
  kubectl describe server web
  curl -H "Authorization: Bearer $TOKEN" "$API/_simulator/calls"

metrics    ${metrics}
log        ${log}
${note === undefined ? "" : `\n${note}\n`}
l shows and hides the operator's log, Ctrl-C stops and removes everything.`;
}
