import type { ClusterReader } from "../diagnostics/cluster.ts";
import { resourceOf } from "../engine/state/object.ts";
import { account } from "../kinds/identity/account.ts";
import { clusterAccount, readSharing } from "../kinds/identity/cluster-account.ts";
import { isForbidden } from "../kube/client/errors.ts";
import type { KubeObject } from "../kube/resource.ts";

/**
 * The Account that a namespace uses, by the operator's rule: its only one, else the newest default ClusterAccount.
 * Undefined if there is none or the caller may not read them: then the environment may have the credentials.
 */
export async function accountFor(
  cluster: ClusterReader,
  namespace: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const own = await listed(cluster.list(resourceOf(account), { namespace }, signal));
  const [only, ...others] = own.map(({ metadata }) => metadata.name);
  if (only !== undefined && others.length === 0) return `${namespace}/${only}`;
  if (only !== undefined) {
    throw new Error(
      `namespace ${namespace} has several Accounts: name one with --account: ${[only, ...others].join(", ")}`,
    );
  }
  const createdAt = ({ metadata }: KubeObject) => metadata.creationTimestamp ?? "";
  const [newest] = (await listed(cluster.list(resourceOf(clusterAccount), {}, signal)))
    .filter(({ spec }) => readSharing(spec).default)
    .sort((a, b) => createdAt(b).localeCompare(createdAt(a)) || a.metadata.name.localeCompare(b.metadata.name));
  return newest && `${clusterAccount.kind}/${newest.metadata.name}`;
}

async function listed(objects: Promise<KubeObject[]>): Promise<KubeObject[]> {
  try {
    return await objects;
  } catch (error) {
    if (isForbidden(error)) return [];
    throw error;
  }
}
