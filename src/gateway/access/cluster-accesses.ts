import { z } from "zod";
import { admits, clusterAccount, readSharing } from "../../kinds/identity/cluster-account.ts";
import { GROUP, VERSION } from "../../kinds/index.ts";
import { inferenceAccess, readInferenceAccess } from "../../kinds/inference/inference-access.ts";
import type { Kind } from "../../kinds/kind.ts";
import type { KubeClient } from "../../kube/client/transport.ts";
import type { KubeObject, Resource } from "../../kube/resource.ts";
import { createNamespaces } from "../../kube/watch/namespaces.ts";
import { createWatchedStore } from "../../kube/watch/watch.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Access, Accesses } from "./access.ts";

const condition = z.looseObject({ type: z.string(), status: z.string(), reason: z.string() });
const conditionsShape = z.looseObject({ conditions: z.array(condition) });

const resourceOf = ({ kind, plural, scope }: Kind): Resource => ({
  group: GROUP,
  version: VERSION,
  kind,
  plural,
  namespaced: scope !== "Cluster",
});

/**
 * The InferenceAccess objects that name the gateway's ClusterAccount, in namespaces that it admits. Both are checked at
 * every call: an access ends as soon as its namespace is no longer admitted.
 */
export async function watchAccesses(options: {
  client: KubeClient;
  clock: Clock;
  account: string;
  onError: (error: unknown) => void;
}): Promise<Accesses & AsyncDisposable> {
  const { client, clock, account, onError } = options;
  const byNamespace = new Map<string, Map<string, Access>>();
  const objects = createWatchedStore({ client, clock, resource: resourceOf(inferenceAccess), onError });
  objects.store.subscribe(({ before, after }) => {
    if (before) byNamespace.get(before.metadata.namespace ?? "")?.delete(before.metadata.name);
    const access = after && accessOf(after, account);
    if (access === undefined) return;
    const here = byNamespace.get(access.namespace) ?? new Map<string, Access>();
    byNamespace.set(access.namespace, here.set(access.name, access));
  });
  const fieldSelector = `metadata.name=${account}`;
  const accounts = createWatchedStore({ client, clock, resource: resourceOf(clusterAccount), fieldSelector, onError });
  const namespaces = createNamespaces({ client, clock, onError });
  await Promise.all([objects.sync(), accounts.sync(), namespaces.begin()]);

  /** The sharing rules of the ClusterAccount, if it admits the namespace. */
  const sharingWith = (namespace: string) => {
    const found = accounts.store.get(account);
    const labels = namespaces.labelsOf(namespace);
    const sharing = found && readSharing(found.spec);
    // The kind InferenceAccess is enough here. Only an access with a token of its own needs the kind AccessToken as
    // well.
    const { kind } = inferenceAccess;
    return sharing && admits(sharing, { kind: { kind }, namespace, labels }) ? sharing : undefined;
  };
  return {
    of(namespace) {
      const here = byNamespace.get(namespace);
      const sharing = here && here.size > 0 ? sharingWith(namespace) : undefined;
      if (here === undefined || sharing === undefined) return [];
      const { inferenceBudget } = sharing;
      const ofNamespace = inferenceBudget && { account, eurPerDay: inferenceBudget.eurPerDay };
      return [...here.values()].map((access) => ({ ...access, ofNamespace }));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([objects, accounts, namespaces].map((each) => each.close()));
    },
  };
}

/** Undefined for an object that is being deleted, that cannot be parsed, or that the operator has refused. */
export function accessOf({ metadata, spec, status }: KubeObject, account: string): Access | undefined {
  const { conditions = [] } = conditionsShape.safeParse(status).data ?? {};
  const isRefused = conditions.some(
    ({ type, status, reason }) => (type === "Stalled" && status === "True") || reason === "TooManyObjects",
  );
  const read = metadata.deletionTimestamp === undefined && !isRefused ? readInferenceAccess(spec) : undefined;
  if (read?.accountRef?.kind !== "ClusterAccount" || read.accountRef.name !== account) return undefined;
  const { namespace = "", name } = metadata;
  return { namespace, name, models: read.models ?? [], ...read.budget };
}
