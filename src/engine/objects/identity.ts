import type { ResourceKind } from "../../kinds/kind.ts";
import { bornOf, identityOf, numbered } from "../../platform/collections/numbered.ts";
import type { CollectionSource } from "../../platform/collections/reading.ts";

/** When a resource of this kind was made, where that belongs to its identity. */
export const birthOf = ({ resource }: ResourceKind, raw: unknown): string | undefined =>
  resource.identity.reusesIds ? bornOf(raw) : undefined;

/**
 * The same, when a second answer tells it too: the times of one may come from a clock that is wrong, and what is known by a
 * wrong time would be missed for ever, and made again. Undefined also when it cannot be read now.
 */
export async function confirmedBirth(
  kind: ResourceKind,
  source: CollectionSource,
  { id, raw }: { id: string; raw: unknown },
  signal: AbortSignal,
): Promise<string | undefined> {
  const born = birthOf(kind, raw);
  if (born === undefined || !source.isStillThere) return born;
  return (await source.isStillThere(identityOf({ id, born }), signal).catch(() => false)) ? born : undefined;
}

/** A collection in which members of this kind are found by their identity. */
export const identified = ({ resource }: ResourceKind, source: CollectionSource): CollectionSource =>
  resource.identity.reusesIds ? numbered(source) : source;
