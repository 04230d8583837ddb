import type { ResourceKind } from "../../kinds/kind.ts";
import { Retry } from "../../platform/answers/errors.ts";
import { bornOf, identityOf, numbered } from "../../platform/collections/numbered.ts";
import type { CollectionSource } from "../../platform/collections/reading.ts";

/** When a resource of this kind was made, where that belongs to its identity. */
export const birthOf = ({ resource }: ResourceKind, raw: unknown): string | undefined =>
  resource.identity.reusesIds ? bornOf(raw) : undefined;

/** Further answers with the same date: two in a row may come from the same wrong clock. */
const CONFIRMATIONS = 2;

/**
 * The same, confirmed by further answers. One answer may come from a wrong clock, and a resource that is known by a wrong time
 * would never be found again, and created twice. Throws when the answers differ: a later pass asks again.
 */
export async function confirmedBirth(
  kind: ResourceKind,
  { source, path }: { source: CollectionSource; path: string },
  { id, raw }: { id: string; raw: unknown },
  signal: AbortSignal,
): Promise<string | undefined> {
  const born = birthOf(kind, raw);
  if (born === undefined || !source.isStillThere) return born;
  let agreed = 0;
  while (agreed < CONFIRMATIONS && (await source.isStillThere(identityOf({ id, born }), signal))) agreed += 1;
  if (agreed === CONFIRMATIONS) return born;
  const detail = "the creation date differs from that of the previous answer";
  throw new Retry({ call: `GET ${path}/${id}`, status: 200, detail }, "no");
}

/** A collection in which members of this kind are found by their identity. */
export const identified = ({ resource }: ResourceKind, source: CollectionSource): CollectionSource =>
  resource.identity.reusesIds ? numbered(source) : source;
