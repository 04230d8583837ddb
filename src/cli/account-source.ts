import { readCluster } from "../diagnostics/cluster.ts";
import { resourceOf } from "../engine/state/object.ts";
import { account, readAccountSpec } from "../kinds/identity/account.ts";
import { clusterAccount } from "../kinds/identity/cluster-account.ts";
import { connect } from "../kube/client/config.ts";
import { isForbidden, KubeError } from "../kube/client/errors.ts";
import type { KubeClient } from "../kube/client/transport.ts";
import { SECRETS } from "../kube/resource.ts";
import { fetchObject } from "../kube/watch/followed.ts";
import { secretValue } from "../kube/write/owned-secret.ts";
import { endpointUrl } from "../platform/addresses/endpoints.ts";
import type { AccessSource } from "./access-source.ts";
import { accountFor } from "./default-account.ts";

type Env = Record<string, string | undefined>;

interface ClusterAsked {
  namespace?: string | undefined;
  kubeconfig?: string | undefined;
  context?: string | undefined;
  env: Env;
}

export interface AccountAsked extends ClusterAsked {
  /** Name of an Account, or ClusterAccount/NAME. */
  account: string;
}

/** The Account that the namespace uses; undefined if there is none, or no cluster. */
export async function accountHere(asked: ClusterAsked): Promise<{ account: string; namespace?: string } | undefined> {
  const { env, kubeconfig, context } = asked;
  const client = await connect({ env, kubeconfig, context }).catch(() => undefined);
  if (!client) return undefined;
  try {
    const namespace = asked.namespace ?? client.namespace ?? "default";
    const account = await accountFor(readCluster(client), namespace, AbortSignal.timeout(DEADLINE_MS));
    if (account?.startsWith(SHARED_PREFIX)) return { account };
    return account === undefined ? undefined : { account: account.slice(namespace.length + 1), namespace };
  } catch (error) {
    if (error instanceof KubeError) return undefined;
    throw error;
  } finally {
    await client.close();
  }
}

const DEADLINE_MS = 10_000;

/**
 * Endpoints and token of an Account in the cluster, read once. `endpoints` fills in those that the Account does not
 * name.
 */
export async function sourceOfAccount(asked: AccountAsked, endpoints: Record<string, string>): Promise<AccessSource> {
  const { env, kubeconfig, context } = asked;
  const client = await connect({ env, kubeconfig, context });
  try {
    return await readSource(client, asked, endpoints);
  } finally {
    await client.close();
  }
}

const SHARED_PREFIX = `${clusterAccount.kind}/`;
/** The default namespace of the operator. */
const OPERATOR_NAMESPACE = "mooring-system";

async function readSource(
  client: KubeClient,
  { account: given, namespace: named, env }: AccountAsked,
  fallbackEndpoints: Record<string, string>,
): Promise<AccessSource> {
  const isShared = given.startsWith(SHARED_PREFIX);
  const name = isShared ? given.slice(SHARED_PREFIX.length) : given;
  const namespace = isShared
    ? (env.MOORING_OPERATOR_NAMESPACE ?? OPERATOR_NAMESPACE)
    : (named ?? client.namespace ?? "default");
  const where = isShared ? `ClusterAccount ${name}` : `Account ${namespace}/${name}`;
  const object = await fetchObject(client, resourceOf(isShared ? clusterAccount : account), { namespace, name });
  if (!object) throw new Error(`${where} not found: see "kubectl get accounts -A", and set its namespace with -n`);
  const spec = readAccountSpec(object.spec);
  const { name: secretName, key } = spec.credentialsSecretRef;
  const secret = await fetchObject(client, SECRETS, { namespace, name: secretName }).catch((error: unknown) => {
    if (isForbidden(error)) return "forbidden" as const;
    throw error;
  });
  const accountToken = typeof secret === "object" ? secretValue(secret, key)?.trim() : undefined;
  return {
    endpoint(endpoint) {
      // The author of the Account chooses its addresses, so the caller's own token is not sent there.
      const template = (accountToken ? spec.endpoints?.[endpoint] : undefined) ?? fallbackEndpoints[endpoint];
      if (template === undefined && !accountToken && env.MOORING_TOKEN) {
        throw new Error(
          `MOORING_TOKEN is sent only to addresses of --platform and MOORING_ENDPOINTS: set "${endpoint}" there`,
        );
      }
      if (template === undefined) {
        throw new Error(
          `${where} has no spec.endpoints.${endpoint}: name the platform with --platform, as for the operator, or set MOORING_ENDPOINTS`,
        );
      }
      return endpointUrl(template, spec.region);
    },
    credentials() {
      const token = accountToken || env.MOORING_TOKEN;
      if (token) return { token, ...(spec.contractNumber !== undefined && { contractNumber: spec.contractNumber }) };
      const place = `${where}: Secret ${isShared ? `${namespace}/` : ""}${secretName}`;
      if (secret === "forbidden")
        throw new Error(`${place} may not be read: set MOORING_TOKEN to a token of the platform`);
      throw new Error(`${place} has no key ${key}: add it with the platform's token, or set MOORING_TOKEN`);
    },
  };
}
