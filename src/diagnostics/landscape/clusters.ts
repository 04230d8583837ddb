import { accountKinds } from "../../engine/accounts/accounts.ts";
import { readWhole } from "../../engine/status/status.ts";
import { labelHolder, readClusterLabels } from "../../platform/products/labels.ts";
import type { MooringObject } from "../objects.ts";
import type { PlatformReader } from "../reader.ts";
import { readOnlyConnection } from "./read-only-connection.ts";
import type { Resource } from "./resources.ts";

export interface Clusters {
  /** The cluster that a resource is labelled with, or the datacenter that it is in. */
  of(resource: Resource): string | undefined;
  /** The same, if it is not the cluster of the objects. */
  otherThanOwn(resource: Resource): string | undefined;
  /** Whether the name of the own cluster is known. */
  isOwnKnown: boolean;
}

const none: Clusters = { of: () => undefined, otherThanOwn: () => undefined, isOwnKnown: true };

/**
 * Which clusters have created resources, by the labels of their operators. The own cluster has the name in the status of its
 * Accounts. `lost` is called if the labels cannot be read: then no cluster is known.
 */
export async function readClusters(
  reader: PlatformReader,
  objects: Iterable<MooringObject>,
  signal: AbortSignal,
  lost: (why: string) => void,
): Promise<Clusters> {
  const connection = readOnlyConnection("labels", reader, signal);
  try {
    const labels = await readClusterLabels(connection, reader.endpoint("api"), { signal, priority: "people" });
    const named = [...objects].filter(({ kind }) => accountKinds.includes(kind));
    const own = new Set(named.flatMap(({ object }) => readWhole(object).clusterName ?? []));
    const of = ({ kind, id, parents: { datacenter = "" } }: Resource) =>
      labels.get(labelHolder(kind.resource.names.type, id)) ?? labels.get(labelHolder("datacenter", datacenter));
    const otherThanOwn = (resource: Resource) => {
      const cluster = of(resource);
      return cluster === undefined || own.has(cluster) ? undefined : cluster;
    };
    return { of, otherThanOwn, isOwnKnown: own.size > 0 || labels.size === 0 };
  } catch (error) {
    signal.throwIfAborted();
    lost(error instanceof Error ? error.message : String(error));
    return none;
  }
}
