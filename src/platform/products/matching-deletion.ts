import type { Deletion } from "./requests.ts";

/** Where a resource is, as far as logs of deletions tell. */
export interface Whereabouts {
  id: string;
  /** When the platform created it, where that belongs to its identity. */
  born?: string | undefined;
  /** The path of its collection. */
  collection: string;
  /** Ids of the parents whose deletion also deletes it. */
  within: readonly string[];
  /** Its id is a number that the platform gives to another resource later. */
  reusesIds: boolean;
}

/** The deletion of a resource among these: one that is done, else one that is under way, else any. */
export function matchingDeletion(where: Whereabouts, deletions: readonly Deletion[]): Deletion | undefined {
  const about = deletions.filter((deletion) => concerns(where, deletion));
  const telling = (["DONE", "BUSY", "UNKNOWN"] as const).map((word) => about.find(({ status }) => status === word));
  return telling.find((each) => each !== undefined);
}

function concerns({ collection, id, born, within, reusesIds }: Whereabouts, { path, targets, at }: Deletion): boolean {
  const own = `${collection}/${encodeURIComponent(id)}`;
  // A parent is deleted: by the path, or, where the log has none, by its id.
  if (path === "" ? targets.some((target) => within.includes(target)) : own.startsWith(`${path}/`)) return true;
  // The deletion may be that of an earlier resource with the same number.
  if (reusesIds) return path === own && born !== undefined && at >= Date.parse(born);
  // A deletion in another collection by this id only detaches it.
  return path === own || (targets.includes(id) && !path.endsWith(`/${id}`));
}
