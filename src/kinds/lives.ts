/** How long the resource of a kind lives, as far as its kind tells. */
import type { Kind, ResourceKind } from "./kind.ts";

/** The lifetime of a key that is created with this body, in milliseconds; undefined if it does not expire. */
export function lifeOf({ resource }: Pick<ResourceKind, "resource">, body: unknown): number | undefined {
  const { key } = resource.secret ?? {};
  return key && "lasts" in key ? key.lasts(body) * 1000 : undefined;
}

/** Ids of the parents whose deletion also deletes the resource. */
export const livesIn = ({ resource }: Pick<Kind, "resource">, parents: Readonly<Record<string, string>>): string[] =>
  Object.entries(parents).flatMap(([role, id]) => (resource?.place.outlives?.includes(role) ? [] : [id]));
