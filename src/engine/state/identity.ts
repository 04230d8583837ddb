import type { ResourceKind } from "../../kinds/kind.ts";
import { bornOf, numbered } from "../../platform/collections/numbered.ts";
import type { CollectionSource } from "../../platform/collections/reading.ts";

/** When a resource of this kind was made, where that belongs to its identity. */
export const birthOf = ({ resource }: ResourceKind, raw: unknown): string | undefined =>
  resource.identity.reusesIds ? bornOf(raw) : undefined;

/** A collection in which members of this kind are found by their identity. */
export const identified = ({ resource }: ResourceKind, source: CollectionSource): CollectionSource =>
  resource.identity.reusesIds ? numbered(source) : source;
