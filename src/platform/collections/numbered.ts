import { z } from "zod";
import { renamed } from "./kept-item.ts";
import type { CollectionSource, Item } from "./reading.ts";

const dated = z.looseObject({ metadata: z.looseObject({ createdDate: z.iso.datetime({ offset: true }) }) });

/** When the platform made a resource, as it shows that. */
export const bornOf = (raw: unknown): string | undefined => dated.safeParse(raw).data?.metadata.createdDate;

/**
 * What tells a resource from every other one of its collection: its id; or, where the platform gives the number of one that
 * is gone to the next, the number and when it was made. Both times are the platform's own, so they are equal or not.
 */
export const identityOf = ({ id, born }: { id: string; born?: string | undefined }): string =>
  born === undefined ? id : `${id} of ${born}`;

/**
 * A collection whose members are known by number: under its identity a member is there or not, whatever else has its
 * number by now. Everything above it deals with identities as with any other id.
 */
export function numbered(source: CollectionSource): CollectionSource {
  const named = (item: Item): Item => renamed(item, identityOf({ id: item.id, born: bornOf(item.raw) }));
  const get = async (identity: string, signal: AbortSignal): Promise<Item | undefined> => {
    const [number = identity, born] = identity.split(" of ");
    const item = await source.get?.(number, signal);
    const found = item && named(item);
    // An answer that does not tell the birth is no proof that ours is gone.
    return found && (born === undefined || found.id === identity || found.id === number) ? found : undefined;
  };
  return {
    ...source,
    list: async (signal, priority) => (await source.list(signal, priority)).map(named),
    get,
    // A list may be minutes old, and a number is easily given away meanwhile.
    isStillThere: async (identity, signal) => (await get(identity, signal))?.id.startsWith(identity) ?? false,
  };
}
