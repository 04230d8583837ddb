import { type ClusterReader, readCluster } from "../../diagnostics/cluster.ts";
import type { PlatformReader } from "../../diagnostics/reader.ts";
import type { Sources } from "../../diagnostics/sources.ts";
import type { KubeClient } from "../../kube/client/transport.ts";
import { systemClock } from "../../runtime/clock.ts";
import { openSources } from "../tools/sources.ts";
import type { Screen } from "./screen.ts";

/** The cluster and the platform with the caller's own rights, opened on first use. */
export interface Access extends AsyncDisposable {
  /** The sources for questions of src/diagnostics. */
  readonly sources: Sources;
  /** The parts that could not be read so far, for lack of rights or after an error. */
  readonly missing: readonly string[];
  /** The Kubernetes API, for requests other than reads. */
  client(): Promise<KubeClient>;
  cluster(): Promise<ClusterReader>;
  /** The selected namespace; undefined with -A. */
  namespace(): Promise<string | undefined>;
  /**
   * The platform of an Account (`NAMESPACE/NAME` or `ClusterAccount/NAME`, as in status.account). Default: --account,
   * else the Account that the namespace uses, else the environment. Rejects with a one-line message that says what is
   * missing.
   */
  platform(account?: string): Promise<PlatformReader>;
}

export interface AccessAsked {
  kubeconfig: string | undefined;
  context: string | undefined;
  namespace: string | undefined;
  account: string | undefined;
  /** Name of a platform with known endpoints. */
  platform: string | undefined;
  everywhere: boolean;
}

type Env = Readonly<Record<string, string | undefined>>;

export function openAccess(asked: AccessAsked, env: Env, screen: Screen, signal: AbortSignal): Access {
  const { kubeconfig, context, namespace, platform: platformName } = asked;
  const here = {
    kubeconfig,
    context,
    namespace,
    platform: platformName,
    tokenFile: undefined,
    userAgent: "mooring-cli",
  };
  const base = openSources({ ...here, account: undefined }, { ...env });
  const missing: string[] = [];
  const note = (what: string) => {
    if (!missing.includes(what)) missing.push(what);
  };
  const byAccount = new Map<string, ReturnType<typeof openSources>>();
  const cluster = async () => readCluster(await base.client(), namespace);

  function sourcesOf(account: string) {
    const known = byAccount.get(account);
    if (known) return known;
    const [first = "", name = ""] = account.split("/");
    const place = first === "ClusterAccount" ? { account } : { account: name, namespace: first };
    const opened = openSources({ ...here, ...place }, { ...env });
    byAccount.set(account, opened);
    return opened;
  }

  async function defaultAccount(): Promise<string | undefined> {
    const { account } = asked;
    const accountNamespace = async () => namespace ?? (await base.client()).namespace ?? "default";
    if (account !== undefined) return account.includes("/") ? account : `${await accountNamespace()}/${account}`;
    const { accountFor } = await import("../default-account.ts");
    return accountFor(await cluster(), await accountNamespace(), signal);
  }

  async function platform(account?: string): Promise<PlatformReader> {
    let chosen = account;
    try {
      chosen ??= await defaultAccount();
    } catch (error) {
      // Without a cluster, the environment may have the credentials.
      if (asked.account !== undefined) throw error;
      if (!(env.MOORING_TOKEN || env.IONOS_TOKEN)) {
        const message = error instanceof Error ? error.message : String(error);
        throw new Error(`${message}; or set MOORING_TOKEN, and --platform or MOORING_ENDPOINTS`, { cause: error });
      }
    }
    return (chosen === undefined ? base : sourcesOf(chosen)).platform();
  }

  return {
    client: base.client,
    cluster,
    platform,
    namespace: async () => (asked.everywhere ? undefined : (namespace ?? (await base.client()).namespace ?? "default")),
    missing,
    sources: {
      platform: () => platform(),
      cluster,
      now: systemClock.now,
      signal,
      progress: screen.progress,
      missing: note,
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([base, ...byAccount.values()].map((each) => each[Symbol.asyncDispose]()));
    },
  };
}
