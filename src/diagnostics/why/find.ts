import { type ObjectKey, resourceOf } from "../../engine/state/object.ts";
import { isForbidden } from "../../kube/client/errors.ts";
import type { ClusterReader } from "../cluster.ts";
import { allObjects, findObject, kindOf } from "../objects.ts";
import type { Sources } from "../sources.ts";
import { type Find, leavingIn, placeOf } from "./chain.ts";

export async function findKey(cluster: ClusterReader, key: ObjectKey, signal: AbortSignal): ReturnType<Find> {
  try {
    return await findObject(cluster, placeOf(key), signal);
  } catch (error) {
    if (isForbidden(error)) return "hidden";
    throw error;
  }
}

/** Reads one object, or names, from the cluster each time. */
export async function findIn(sources: Sources): Promise<Find> {
  const { signal } = sources;
  const cluster = await sources.cluster();
  const names = async (key: ObjectKey) => {
    const { kind, namespace } = placeOf(key);
    const all = await cluster.list(resourceOf(kindOf(kind)), { namespace }, signal).catch((error: unknown) => {
      if (!isForbidden(error)) throw error;
      return [];
    });
    return all.map(({ metadata }) => metadata.name);
  };
  const leaving = async (key: ObjectKey) => {
    const all = await allObjects({ ...sources, missing: () => {} }, placeOf(key).namespace);
    return leavingIn(all.values(), key);
  };
  return Object.assign((key: ObjectKey) => findKey(cluster, key, signal), { names, leaving });
}
