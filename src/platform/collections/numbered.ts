import { z } from "zod";
import { renamed } from "./kept-item.ts";
import { type CollectionSource, type Item, PartialList } from "./reading.ts";

const dated = z.looseObject({ metadata: z.looseObject({ createdDate: z.iso.datetime({ offset: true }) }) });

/** The platform's creation date of a resource. */
export const bornOf = (raw: unknown): string | undefined => dated.safeParse(raw).data?.metadata.createdDate;

/**
 * A unique identity of a resource in its collection: its id, or, where the platform reuses numbers, the number and the creation
 * date. Both dates come from the platform, so they are compared for equality only, however it spells them.
 */
export const identityOf = ({ id, born }: { id: string; born?: string | undefined }): string => {
  if (born === undefined) return id;
  const at = Date.parse(born);
  return `${id} of ${Number.isNaN(at) ? born : new Date(at).toISOString()}`;
};

/**
 * A collection whose members have numbers that are reused. A member is known by its identity, so another resource with the same
 * number is not taken for it. The layers above use identities like any other id.
 */
export function numbered(source: CollectionSource): CollectionSource {
  const named = (item: Item): Item => renamed(item, identityOf({ id: item.id, born: bornOf(item.raw) }));
  const get = async (identity: string, signal: AbortSignal): Promise<Item | undefined> => {
    const [number = identity, born] = identity.split(" of ");
    const item = await source.get?.(number, signal);
    const found = item && named(item);
    // An answer without a creation date does not prove that our resource is gone.
    return found && (born === undefined || found.id === identity || found.id === number) ? found : undefined;
  };
  return {
    ...source,
    async list(signal, priority) {
      try {
        return (await source.list(signal, priority)).map(named);
      } catch (error) {
        throw error instanceof PartialList ? new PartialList(error.failure, error.items.map(named)) : error;
      }
    },
    get,
    // Read again: a list may be minutes old, and the number may have been reused meanwhile.
    isStillThere: async (identity, signal) => (await get(identity, signal))?.id.startsWith(identity) ?? false,
  };
}
