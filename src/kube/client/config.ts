import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isIPv6 } from "node:net";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import { authorizeBy, tokenFile } from "./authorize.ts";
import type { ClientTls } from "./connections.ts";
import type { KubeconfigContext } from "./kubeconfig.ts";
import { type ClientObserver, type ClientOptions, createClient, type KubeClient } from "./transport.ts";

export interface ConnectOptions {
  /** Path of a kubeconfig. Default: the service account in a pod, else `KUBECONFIG`, else `~/.kube/config`. */
  kubeconfig?: string | undefined;
  context?: string | undefined;
  userAgent?: string;
  observe?: ClientObserver;
  clock?: Clock;
  env?: Record<string, string | undefined>;
  serviceAccount?: string;
}

/** Neither the options nor the environment name a cluster. */
export class NoCluster extends Error {
  override readonly name = "NoCluster";
}

const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/** A client for the cluster that the options or the environment name. Sends nothing yet. */
export async function connect(options: ConnectOptions = {}): Promise<KubeClient> {
  const { kubeconfig, env = process.env, clock = systemClock } = options;
  const isChosen = kubeconfig !== undefined || options.context !== undefined;
  const inClusterHost = isChosen ? undefined : env.KUBERNETES_SERVICE_HOST;
  const where: ClientOptions = inClusterHost
    ? await ofServiceAccount(inClusterHost, env.KUBERNETES_SERVICE_PORT ?? "443", options.serviceAccount, clock)
    : await ofKubeconfig(pathsOf(kubeconfig, env), options.context, clock);
  return createClient({
    ...where,
    clock,
    userAgent: options.userAgent ?? "mooring",
    ...(options.observe && { observe: options.observe }),
  });
}

function pathsOf(kubeconfig: string | undefined, env: Record<string, string | undefined>): string[] {
  if (kubeconfig !== undefined) return [resolve(kubeconfig)];
  const listed = (env.KUBECONFIG ?? "").split(delimiter).filter(Boolean);
  const paths = listed.length > 0 ? listed : [join(env.HOME ?? homedir(), ".kube", "config")];
  const existing = paths.map((path) => resolve(path)).filter((path) => existsSync(path));
  if (existing.length > 0) return existing;
  const message = `no cluster to connect to: not in a pod, and ${paths.join(", ")} does not exist; give a kubeconfig`;
  throw listed.length > 0 ? new Error(message) : new NoCluster(message);
}

async function ofServiceAccount(host: string, port: string, folder = SERVICE_ACCOUNT, clock: Clock) {
  const namespace = await readFile(join(folder, "namespace"), "utf8").catch(() => "");
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    tls: { ca: await readFile(join(folder, "ca.crt")) },
    authorize: tokenFile(join(folder, "token"), clock),
    ...(namespace.trim() && { namespace: namespace.trim() }),
  };
}

async function ofKubeconfig(paths: string[], contextName: string | undefined, clock: Clock): Promise<ClientOptions> {
  // Loaded only when needed: in a pod there is no kubeconfig and no YAML to read.
  const { loadKubeconfig } = await import("./kubeconfig.ts");
  const context: KubeconfigContext = await loadKubeconfig(paths, contextName);
  const { cluster, user, namespace } = context;
  const authorize = authorizeBy(context, clock);
  const ca = await pem(cluster["certificate-authority-data"], cluster["certificate-authority"]);
  const cert = await pem(user["client-certificate-data"], user["client-certificate"]);
  const key = await pem(user["client-key-data"], user["client-key"]);
  const tls: ClientTls = {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(cluster["tls-server-name"] !== undefined && { servername: cluster["tls-server-name"] }),
    ...(cluster["insecure-skip-tls-verify"] && { insecure: true }),
  };
  return {
    server: cluster.server,
    tls,
    ...(authorize && { authorize }),
    ...(namespace && { namespace }),
    ...(cluster["proxy-url"] && { proxy: cluster["proxy-url"] }),
  };
}

async function pem(data: string | undefined, file: string | undefined): Promise<Buffer | undefined> {
  if (data) return Buffer.from(data, "base64");
  return file ? readFile(file) : undefined;
}
