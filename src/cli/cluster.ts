import { parseArgs } from "node:util";
import { binaryNames, isBinaryName, provideBinaries } from "./control-plane/binaries.ts";
import { kubernetesVersion } from "./control-plane/go.ts";
import { progressTo } from "./control-plane/progress.ts";
import { type Cluster, startCluster } from "./control-plane/start.ts";

export const usage = `usage: mooring cluster [OPTION…]          start a control plane until Ctrl-C
       mooring cluster build [BINARY…]    only build its binaries, and print their folder

  --json                  print one line {"kubeconfig", "server", "assets"} when ready; stop when the calling process exits
  --data DIR              keep the cluster in DIR for the next start (default: a temporary folder)
  --controller-manager    also run kube-controller-manager: garbage collection, namespace deletion, service accounts
  -h, --help              show this help

Binaries: ${binaryNames.join(", ")}. They are taken from KUBEBUILDER_ASSETS if that is set,
from the cache under XDG_CACHE_HOME (~/.cache), from a release, or built with Go, whichever comes first.`;

export const options = {
  json: { type: "boolean", default: false },
  data: { type: "string" },
  "controller-manager": { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** `mooring cluster`: a Kubernetes control plane on this machine. */
export async function clusterCommand(argv: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args: argv, options, allowPositionals: true });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const [mode, ...names] = positionals;
  const interrupt = interruptSignal({ withParent: values.json });
  const progress = progressTo(process.stderr);
  const common = { onProgress: progress.update, signal: interrupt };
  try {
    if (mode === "build") return await build(names, common);
    if (mode !== undefined) return refuse(`unexpected "${mode}"`);
    const controllerManager = values["controller-manager"];
    const cluster = await startCluster({ ...common, controllerManager, data: values.data });
    progress.end();
    return await serve(cluster, values, interrupt);
  } catch (error) {
    if (interrupt.aborted) return 130;
    throw error;
  } finally {
    progress.end();
  }
}

async function build(names: string[], common: Parameters<typeof provideBinaries>[1]): Promise<number> {
  const unknown = names.find((name) => !isBinaryName(name));
  if (unknown !== undefined) return refuse(`unknown binary "${unknown}"`);
  console.log(await provideBinaries(names.length > 0 ? names.filter(isBinaryName) : binaryNames, common));
  return 0;
}

function refuse(reason: string): number {
  console.error(`mooring cluster: ${reason}\n\n${usage}`);
  return 2;
}

/** Prints how to reach the cluster, and keeps it running until an interrupt or its failure. */
async function serve(
  cluster: Cluster,
  { json, data }: { json: boolean; data?: string | undefined },
  interrupt: AbortSignal,
): Promise<number> {
  const { kubeconfig, server, assets } = cluster;
  console.log(json ? JSON.stringify({ kubeconfig, server, assets }) : description(cluster, data));
  const interrupted = new Promise<undefined>((resolve) => {
    if (interrupt.aborted) resolve(undefined);
    interrupt.addEventListener("abort", () => resolve(undefined));
  });
  const death = await Promise.race([cluster.died, interrupted]);
  await cluster.stop();
  if (death) throw death;
  return 0;
}

function description({ kubeconfig, server }: Cluster, data: string | undefined): string {
  return `Kubernetes ${kubernetesVersion()} is ready at ${server}

  export KUBECONFIG=${kubeconfig}

Ctrl-C stops it${data === undefined ? " and removes everything" : `; ${data} is kept`}.
No kubectl? "mooring cluster build kubectl" builds it and prints its folder.`;
}

const parentPollMs = 500;

/** Aborts on SIGINT, SIGTERM and SIGHUP and, with `withParent`, when the parent process is gone. */
function interruptSignal({ withParent }: { withParent: boolean }): AbortSignal {
  const controller = new AbortController();
  const interrupt = () => controller.abort();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, interrupt);
  if (withParent) {
    const parent = process.ppid;
    setInterval(() => process.ppid !== parent && interrupt(), parentPollMs).unref();
  }
  return controller.signal;
}
