import type { ObjectKey } from "../../engine/state/object.ts";
import { isForbidden } from "../../kube/client/errors.ts";
import type { ClusterReader } from "../cluster.ts";
import { findObject } from "../objects.ts";
import { type Find, placeOf } from "./chain.ts";

export async function findKey(cluster: ClusterReader, key: ObjectKey, signal: AbortSignal): ReturnType<Find> {
  try {
    return await findObject(cluster, placeOf(key), signal);
  } catch (error) {
    if (isForbidden(error)) return "hidden";
    throw error;
  }
}
