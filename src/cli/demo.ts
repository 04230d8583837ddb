import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { z } from "zod";
import { connect } from "../kube/config.ts";
import type { KubeClient } from "../kube/transport.ts";
import { progressTo } from "./control-plane/progress.ts";
import { startCluster } from "./control-plane/start.ts";
import { startChild } from "./demo/children.ts";
import { applySamples, install, writeOperatorKubeconfig } from "./demo/install.ts";
import { createDisplay, format, type Row, readRows } from "./demo/table.ts";

export const usage = `usage: mooring demo [OPTION…]

Starts a Kubernetes API, the platform simulator and the operator on this machine, applies deploy/samples and shows
them become Ready. Everything is gone after Ctrl-C.

  --once           exit 0 as soon as all are Ready, 1 with the reasons if they do not get there
  --timeout N      seconds that --once waits (default 180)
  --speed X        let the simulated platform work X times as fast (default 1)
  -h, --help       print this text`;

export const options = {
  once: { type: "boolean", default: false },
  timeout: { type: "string", default: "180" },
  speed: { type: "string", default: "1" },
  help: { type: "boolean", short: "h", default: false },
} as const;

const NAMESPACE = "demo";
const simulatorReady = z.object({ endpoints: z.record(z.string(), z.string()), token: z.string() });
const operatorReady = z.object({ metrics: z.string() });

/** `mooring demo`: the whole of Mooring on one machine. */
export async function demoCommand(argv: string[]): Promise<number> {
  const { values } = parseArgs({ args: argv, options });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const interrupt = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => interrupt.abort());
  try {
    return await demo(values, interrupt.signal);
  } catch (error) {
    if (interrupt.signal.aborted) return values.once ? 130 : 0;
    throw error;
  }
}

async function demo(values: { once: boolean; timeout: string; speed: string }, signal: AbortSignal): Promise<number> {
  await using cleanup = new AsyncDisposableStack();
  const progress = progressTo(process.stderr);
  const cluster = await startCluster({ onProgress: progress.update, signal });
  progress.end();
  cleanup.defer(() => cluster.stop());
  const client = await connect({ kubeconfig: cluster.kubeconfig });
  cleanup.defer(() => client.close());
  console.log(`kubernetes   ${cluster.server}`);

  const simulator = await startChild("simulator", ["--speed", values.speed]);
  cleanup.defer(() => simulator.stop());
  const platform = simulatorReady.parse(simulator.ready);
  console.log(`simulator    ${platform.endpoints.api}`);
  console.log(`storage      ${platform.endpoints.objectStorage}`);

  await install(client);
  const kubeconfig = join(dirname(cluster.kubeconfig), "operator.kubeconfig");
  await writeOperatorKubeconfig(client, cluster.kubeconfig, kubeconfig);
  const endpoints = Object.entries(platform.endpoints).flatMap(([name, url]) => ["--endpoint", `${name}=${url}`]);
  const operator = await startChild("operator", ["--kubeconfig", kubeconfig, ...endpoints]);
  cleanup.defer(() => operator.stop());
  const { metrics } = operatorReady.parse(operator.ready);
  console.log(`operator     ${metrics}`);

  await applySamples(client, NAMESPACE, platform.token);
  console.log(`samples      applied into namespace ${NAMESPACE}\n`);
  const died = Promise.race([cluster.died, simulator.died, operator.died]);
  const waitMs = values.once ? Number(values.timeout) * 1000 : Number.POSITIVE_INFINITY;
  const rows = await Promise.race([untilReady(client, waitMs, signal), died]);
  if (rows instanceof Error) throw rows;
  const late = rows.filter(({ ready }) => ready !== "True");
  if (late.length > 0) return refuse(late);
  if (values.once) return 0;

  console.log(goOn(cluster, metrics, platform.endpoints));
  const ended = new Promise<undefined>((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
  const death = await Promise.race([died, ended]);
  if (death) throw death;
  return 0;
}

const LOOK_MS = 500;

/** Shows the objects until all are Ready or the time is over; returns them as they are then. */
async function untilReady(client: KubeClient, waitMs: number, signal: AbortSignal): Promise<Row[]> {
  const display = createDisplay(process.stdout);
  const startedAt = Date.now();
  for (;;) {
    const now = Date.now();
    const rows = await readRows(client, NAMESPACE, now);
    display.show(rows);
    if (rows.every(({ ready }) => ready === "True") || now - startedAt > waitMs) return rows;
    await delay(LOOK_MS, undefined, { signal });
  }
}

function refuse(late: Row[]): number {
  console.error(`\nnot Ready:\n${format(late).join("\n")}`);
  for (const { kind, name, message } of late) console.error(`${kind}/${name}: ${message}`);
  return 1;
}

function goOn(
  { kubeconfig, assets }: { kubeconfig: string; assets: string },
  metrics: string,
  endpoints: z.infer<typeof simulatorReady>["endpoints"],
): string {
  const built = join(assets, "kubectl");
  const kubectl = existsSync(built) ? built : "kubectl";
  return `
All are Ready. In another terminal:

  export KUBECONFIG=${kubeconfig}
  ${kubectl} get mooring -A
  ${kubectl} -n ${NAMESPACE} describe server web
  export MOORING_ENDPOINTS='${JSON.stringify(endpoints)}'   # for bin/mooring flowlogs

metrics    ${metrics}
simulator  ${endpoints.api}
storage    ${endpoints.objectStorage}

Ctrl-C ends everything.`;
}
