import { type ObjectKey, resourceOf } from "../../engine/state/object.ts";
import { isForbidden } from "../../kube/client/errors.ts";
import type { ClusterReader } from "../cluster.ts";
import { findObject, kindOf } from "../objects.ts";
import { type Find, placeOf } from "./chain.ts";

export async function findKey(cluster: ClusterReader, key: ObjectKey, signal: AbortSignal): ReturnType<Find> {
  try {
    return await findObject(cluster, placeOf(key), signal);
  } catch (error) {
    if (isForbidden(error)) return "hidden";
    throw error;
  }
}

/** Reads one object, or names, from the cluster each time. */
export function findIn(cluster: ClusterReader, signal: AbortSignal): Find {
  const names = async (key: ObjectKey) => {
    const { kind, namespace } = placeOf(key);
    const all = await cluster.list(resourceOf(kindOf(kind)), { namespace }, signal).catch((error: unknown) => {
      if (!isForbidden(error)) throw error;
      return [];
    });
    return all.map(({ metadata }) => metadata.name);
  };
  return Object.assign((key: ObjectKey) => findKey(cluster, key, signal), { names });
}
