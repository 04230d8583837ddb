import { z } from "zod";
import { isForbidden } from "../../kube/client/errors.ts";
import type { KubeObject, Resource } from "../../kube/resource.ts";
import type { ClusterReader } from "../cluster.ts";

const LEASES: Resource = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
};

/** Where the operator is installed unless somebody chose another namespace. */
export const OPERATOR_NAMESPACE = "mooring-system";
/** The Lease of the operator; those of shards are called `mooring-NAME`. */
const LEASE = /^mooring(-(?!installation$).+)?$/;
/** Clocks differ, and a leader that starts again needs a moment. */
const GRACE_MS = 60_000;

const spec = z.looseObject({
  holderIdentity: z.string().nullish(),
  renewTime: z.string().nullish(),
  leaseDurationSeconds: z.number().nullish(),
});

/** One Lease of the operator: who leads, and since when nobody has renewed it. */
export interface Leader {
  namespace: string;
  lease: string;
  holder: string;
  renewed: string;
  running: boolean;
}

/** Who leads, as far as the caller may see; "hidden" when the Leases may not be read. */
export async function leadersOf(
  cluster: ClusterReader,
  now: number,
  signal: AbortSignal,
  namespace = OPERATOR_NAMESPACE,
): Promise<Leader[] | "hidden"> {
  const list = (where: { namespace?: string }) => cluster.list(LEASES, where, signal);
  try {
    const leases = await list({}).catch((error: unknown) => {
      if (isForbidden(error)) return list({ namespace });
      throw error;
    });
    return leases.filter(({ metadata }) => LEASE.test(metadata.name)).map((lease) => leaderOf(lease, now));
  } catch (error) {
    if (isForbidden(error)) return "hidden";
    throw error;
  }
}

function leaderOf({ metadata, spec: raw }: KubeObject, now: number): Leader {
  const { holderIdentity, renewTime, leaseDurationSeconds } = spec.safeParse(raw ?? {}).data ?? {};
  const age = now - Date.parse(renewTime ?? "");
  const holder = holderIdentity ?? "";
  return {
    namespace: metadata.namespace ?? "",
    lease: metadata.name,
    holder,
    renewed: renewTime ?? "",
    running: holder !== "" && age < (leaseDurationSeconds ?? 15) * 1000 + GRACE_MS,
  };
}

/** Why nobody works on objects, as one line; undefined when somebody does, or when that cannot be told. */
export async function idleOperator(
  cluster: ClusterReader,
  now: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const leaders = await leadersOf(cluster, now, signal);
  if (leaders === "hidden" || leaders.length === 0 || leaders.some(({ running }) => running)) return undefined;
  const [last] = leaders.toSorted((a, b) => b.renewed.localeCompare(a.renewed));
  return (
    last && `no operator runs: Lease ${last.namespace}/${last.lease} was last renewed at ${last.renewed || "no time"}`
  );
}

/** What to do when no operator runs. */
export const startOperator =
  "Start the operator: see its Deployment and Pods (kubectl -n mooring-system get deployments,pods).";
