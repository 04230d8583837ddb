import { z } from "zod";
import { readProxies } from "../operator/endpoints.ts";
import type { EndpointName } from "../platform/addresses/endpoints.ts";
import { endpointUrl } from "../platform/addresses/endpoints.ts";
import { endpointsOfPlatform, platformNames } from "../platform/addresses/platforms.ts";
import type { Proxies } from "../platform/addresses/proxies.ts";
import type { Connection } from "../platform/calls/transport.ts";
import { systemClock } from "../runtime/clock.ts";
import { UsageError } from "../server/usage-error.ts";
import type { AccessSource } from "./access-source.ts";

/** The flags of every command that speaks to the platform. */
export const accessFlags = {
  account: { type: "string" },
  namespace: { type: "string", short: "n" },
  platform: { type: "string" },
  kubeconfig: { type: "string" },
  context: { type: "string" },
} as const;

/** The values of these flags. */
export type AccessAsked = Partial<Record<keyof typeof accessFlags, string | undefined>>;

export const accessAskedIn = ({ account, namespace, platform, kubeconfig, context }: AccessAsked): AccessAsked => ({
  account,
  namespace,
  platform,
  kubeconfig,
  context,
});

export const accessUsage = `  --account NAME          use the token and endpoints of this Account of the current cluster; set endpoints that it
                          does not have with --platform or in MOORING_ENDPOINTS
  -n, --namespace NAME    its namespace (default: the namespace of the kubeconfig context)
  --kubeconfig PATH       kubeconfig of the cluster (default: in-cluster, else KUBECONFIG, else ~/.kube/config)
  --context NAME          context of the kubeconfig
  --platform NAME         the public endpoints of a platform: ${platformNames.join(", ")}; MOORING_ENDPOINTS overrides single ones
                          (default: MOORING_PLATFORM)
                          Without --account: the only Account of the namespace or, if MOORING_TOKEN is set, that token with
                          --platform or MOORING_ENDPOINTS, a JSON object such as {"api": "https://…", "objectStorage":
                          "https://…"}; MOORING_REGION replaces {region} in them.`;

/**
 * Access of a command to the platform. If something is missing, its first use fails with a message that says what to
 * set.
 */
export interface PlatformAccess extends AsyncDisposable {
  endpoint(name: EndpointName): string;
  connection(): Connection;
}

/** `account` is the name of an Account, or ClusterAccount/NAME. */
export interface AccessOptions extends AccessAsked {
  env?: Record<string, string | undefined>;
}

/** Names the Account that the namespace uses, if neither a flag nor the environment has a token. */
export async function withAccount(asked: AccessAsked, env = process.env): Promise<AccessAsked> {
  if (asked.account !== undefined || env.MOORING_TOKEN) return asked;
  const { accountHere } = await import("./account-source.ts");
  return { ...asked, ...(await accountHere({ ...asked, env })) };
}

/** Uses an Account of the current cluster if one is named, else the environment. */
export async function openPlatform(options: AccessOptions = {}): Promise<PlatformAccess> {
  const { account, env = process.env, platform = env.MOORING_PLATFORM } = options;
  const endpoints = endpointsIn(platform, env.MOORING_ENDPOINTS);
  const proxies = readProxies(env);
  if (account === undefined) return accessWith(ofEnvironment(env, endpoints), proxies);
  // Loaded on demand: without a cluster, the Kubernetes client is not needed.
  const { sourceOfAccount } = await import("./account-source.ts");
  return accessWith(await sourceOfAccount({ ...options, account, env }, endpoints ?? {}), proxies);
}

async function accessWith({ endpoint, credentials }: AccessSource, proxies: Proxies): Promise<PlatformAccess> {
  const { createTransport } = await import("../platform/calls/transport.ts");
  const transport = createTransport({ clock: systemClock, proxies });
  // Timers of the clock do not keep the process alive, and there may be nothing else between two attempts.
  const alive = setInterval(() => {}, 60_000);
  let connection: Connection | undefined;
  return {
    endpoint,
    connection() {
      connection ??= transport.connect("mooring", credentials());
      return connection;
    },
    async [Symbol.asyncDispose]() {
      clearInterval(alive);
      await connection?.close();
      await transport.close();
    },
  };
}

const address = z.string().regex(/^https?:\/\/\S+$/, "must be an http or https URL");
const endpointsShape = z.record(z.string(), address);

function ofEnvironment(
  { MOORING_TOKEN, MOORING_REGION }: Record<string, string | undefined>,
  endpoints: Record<string, string> | undefined,
): AccessSource {
  const wayOut = "or name an Account of the cluster with --account";
  return {
    endpoint(name) {
      if (!endpoints) {
        throw new Error(
          `MOORING_ENDPOINTS is not set: set it to a JSON object with "${name}", name the platform with --platform, ${wayOut}`,
        );
      }
      const url = endpoints[name];
      if (url === undefined) throw new Error(`MOORING_ENDPOINTS has no "${name}": add the address, ${wayOut}`);
      if (url.includes("{region}") && !MOORING_REGION) {
        throw new Error(`"${name}" of MOORING_ENDPOINTS needs a region: set MOORING_REGION, for example to de/fra`);
      }
      return endpointUrl(url, MOORING_REGION);
    },
    credentials() {
      if (!MOORING_TOKEN) throw new Error(`MOORING_TOKEN is not set: set it to a token of the platform, ${wayOut}`);
      return { token: MOORING_TOKEN };
    },
  };
}

function endpointsIn(platform: string | undefined, text: string | undefined): Record<string, string> | undefined {
  const own = text ? parseEndpoints(text) : undefined;
  if (platform === undefined) return own;
  try {
    return { ...endpointsOfPlatform(platform), ...own };
  } catch (error) {
    throw new UsageError(`--platform: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function parseEndpoints(text: string): Record<string, string> {
  const form = 'it must be a JSON object such as {"api": "https://…", "objectStorage": "https://…"}';
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    throw new Error(`MOORING_ENDPOINTS is not JSON: ${form}`);
  }
  const parsed = endpointsShape.safeParse(raw);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.length ? ` ${issue.path.join(".")}` : "";
  throw new Error(`MOORING_ENDPOINTS:${place} ${issue?.message ?? ""}: ${form}`);
}
