import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type BinaryName, isThere, provideBinaries } from "./binaries.ts";
import { type Audit, apiserverArguments, controllerManagerArguments, etcdArguments, LOOPBACK } from "./components.ts";
import { type ClusterFolder, files, openFolder, writeAccess } from "./folder.ts";
import { freePort, type Target, untilServed } from "./probe.ts";
import { during, type Progress, silent } from "./progress.ts";
import { type Component, type Components, supervise } from "./supervise.ts";

export interface ClusterOptions {
  /** Also run kube-controller-manager: garbage collection, namespace deletion, service accounts. */
  controllerManager?: boolean | undefined;
  /**
   * If set, the cluster is ready before kube-controller-manager is built, and this reports the build. Default: the
   * cluster is ready when all components run.
   */
  onBackground?: Progress | undefined;
  /** A folder to keep the cluster in. Default: a temporary folder. */
  data?: string | undefined;
  audit?: Audit | undefined;
  /** The address of the API server, which pods must reach. Default: the loopback address, without pods. */
  address?: string | undefined;
  onProgress?: Progress | undefined;
  signal?: AbortSignal | undefined;
  env?: NodeJS.ProcessEnv | undefined;
}

export interface Cluster {
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  readonly server: string;
  /** The folder of the control plane's binaries. */
  readonly assets: string;
  readonly adminToken: string;
  /** Resolves with undefined when kube-controller-manager runs or was not asked for, else with the error. */
  readonly controllers: Promise<Error | undefined>;
  /** Resolves with the error if a component dies unexpectedly. */
  readonly died: Promise<Error>;
  /** Stops everything; resolves when all processes are gone and a temporary folder is removed. */
  stop(): Promise<void>;
}

/**
 * Starts a control plane that lives at most as long as this process. A stop kills all components, as a crash of this
 * process does: there is one way to end, and etcd survives it.
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { onProgress = silent, onBackground, signal, env } = options;
  const names: BinaryName[] = ["etcd", "kube-apiserver"];
  const inBackground =
    options.controllerManager && onBackground !== undefined && !isThere("kube-controller-manager", env);
  if (options.controllerManager && !inBackground) names.push("kube-controller-manager");
  const assets = await provideBinaries(names, { onProgress, signal, ...(env && { env }) });
  const folder = await openFolder(options.data);
  const components = supervise(assets, folder);
  const stopping = new AbortController();
  let controllers: Promise<Error | undefined> = Promise.resolve(undefined);
  const stop = async () => {
    stopping.abort(new Error("the cluster is stopped"));
    await controllers;
    await components.stop();
    await folder.close();
  };
  try {
    const target = await during(onProgress, "starting the control plane", () =>
      startComponents(components, folder, {
        ...options,
        controllerManager: options.controllerManager && !inBackground,
      }),
    );
    if (inBackground) {
      const until = signal ? AbortSignal.any([signal, stopping.signal]) : stopping.signal;
      const provided = provideBinaries(["kube-controller-manager"], {
        onProgress: onBackground,
        signal: until,
        ...(env && { env }),
      });
      controllers = provided
        .then(() => components.run(controllerManagerOf(target, options.address ?? LOOPBACK), until))
        .then(() => undefined, asError);
    }
    return {
      controllers,
      kubeconfig: join(folder.path, files.kubeconfig),
      server: target.server,
      assets,
      adminToken: target.token,
      died: components.died,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

const startDeadlineMs = 120_000;

async function startComponents(
  components: Components,
  folder: ClusterFolder,
  { controllerManager, audit, signal, address = LOOPBACK }: ClusterOptions,
): Promise<Target> {
  const deadline = new AbortController();
  const timer = setTimeout(
    () => deadline.abort(new Error(`the control plane was not ready after ${startDeadlineMs / 1000} s`)),
    startDeadlineMs,
  );
  const until = signal ? AbortSignal.any([signal, deadline.signal]) : deadline.signal;
  try {
    await components.run(etcd(folder), until);
    const target = await startApiserver(components, folder, { address, audit }, until);
    if (controllerManager) await components.run(controllerManagerOf(target, address), until);
    return target;
  } finally {
    clearTimeout(timer);
  }
}

function etcd(folder: ClusterFolder): Component {
  const socket = join(folder.path, files.etcdSocket);
  const ready = async (alive: AbortSignal) => {
    while (!existsSync(socket)) await delay(10, undefined, { signal: alive });
  };
  return { name: "etcd", args: etcdArguments(folder), ready };
}

/** A port cannot be reserved for another program, so after a lost race the next port is tried. */
async function startApiserver(
  components: Components,
  folder: ClusterFolder,
  serving: { address: string; audit: Audit | undefined },
  signal: AbortSignal,
): Promise<Target> {
  const certificate = join(folder.path, files.servingCertificate);
  for (let attempt = 1; ; attempt++) {
    const port = await freePort(attempt === 1 ? folder.identity.port : undefined);
    const target = { server: `https://${serving.address}:${port}`, certificate, token: folder.identity.adminToken };
    const ready = (alive: AbortSignal) => untilServed(target, ["/readyz", "/api/v1/namespaces/default"], alive);
    try {
      await components.run({ name: "kube-apiserver", args: apiserverArguments({ ...serving, port }), ready }, signal);
      await writeAccess(folder, target.server, port);
      return target;
    } catch (error) {
      if (attempt === 5 || !String(error).includes("address already in use")) throw error;
    }
  }
}

function controllerManagerOf(target: Target, address: string): Component {
  // The default service account of a namespace shows that the controllers run.
  const shown = ["/api/v1/namespaces/default/serviceaccounts/default"];
  const ready = (alive: AbortSignal) => untilServed(target, shown, alive);
  return { name: "kube-controller-manager", args: controllerManagerArguments({ address }), ready };
}
