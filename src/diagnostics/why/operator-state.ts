import { z } from "zod";
import { isForbidden } from "../../kube/client/errors.ts";
import { LEASES } from "../../kube/lease/lease-record.ts";
import type { KubeObject } from "../../kube/resource.ts";
import type { ClusterReader } from "../cluster.ts";

/** The default namespace of the operator. */
export const OPERATOR_NAMESPACE = "mooring-system";
/** The operator's Lease; shards have `mooring-NAME`. */
const LEASE = /^mooring(-(?!installation$).+)?$/;
/** Clocks differ, and a restarting leader needs a moment. */
const GRACE_MS = 60_000;

const spec = z.looseObject({
  holderIdentity: z.string().nullish(),
  renewTime: z.string().nullish(),
  leaseDurationSeconds: z.number().nullish(),
});

/** A Lease of the operator, with its holder, its last renewal and whether the holder still runs. */
export interface Leader {
  namespace: string;
  lease: string;
  holder: string;
  renewed: string;
  running: boolean;
}

/** The leaders that the caller can see; "hidden" if the caller may not read Leases. */
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

/** The reason why no operator works on objects, in one line; undefined if one does, or if that is not known. */
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

export const startOperator =
  "Start the operator: see its Deployment and Pods (kubectl -n mooring-system get deployments,pods).";
