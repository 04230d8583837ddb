import { z } from "zod";
import { Retry } from "../answers/errors.ts";
import { renamed } from "./kept-item.ts";
import { type CollectionSource, type Item, PartialList } from "./reading.ts";

const dated = z.looseObject({ metadata: z.looseObject({ createdDate: z.iso.datetime({ offset: true }) }) });

/** The platform's creation date of a resource. */
export const bornOf = (raw: unknown): string | undefined => dated.safeParse(raw).data?.metadata.createdDate;

/** The part of a kind that says whether numbers of deleted members are given away again. */
interface Reusing {
  reusesIds?: boolean;
}

/** When a resource was made, where that belongs to its identity. */
export const birthOf = ({ reusesIds }: Reusing, raw: unknown): string | undefined =>
  reusesIds ? bornOf(raw) : undefined;

/** A collection in which members are found by their identity. */
export const identified = ({ reusesIds }: Reusing, source: CollectionSource): CollectionSource =>
  reusesIds ? numbered(source) : source;

/**
 * A unique identity of a resource in its collection: its id, or, where the platform reuses numbers, the number and the creation
 * date. Both dates come from the platform, so they are compared for equality only, however it spells them.
 */
export const identityOf = ({ id, born }: { id: string; born?: string | undefined }): string => {
  if (born === undefined) return id;
  const at = Date.parse(born);
  return `${id} of ${Number.isNaN(at) ? born : new Date(at).toISOString()}`;
};

/** Further answers with the same date: two in a row may come from the same wrong clock. */
const CONFIRMATIONS = 2;

/**
 * When a member was created, where that belongs to its identity, confirmed by further answers. One answer may come from a wrong
 * clock, and a resource that is known by a wrong time would never be found again, and created twice. Throws when the answers
 * differ: the caller asks again later. `path` is that of the collection.
 */
export async function confirmedBirth(
  { source, path }: { source: CollectionSource; path: string },
  { id, raw }: Pick<Item, "id" | "raw">,
  signal: AbortSignal,
): Promise<string | undefined> {
  const born = bornOf(raw);
  if (!source.isStillThere || born === undefined) return undefined;
  let agreed = 0;
  while (agreed < CONFIRMATIONS && (await source.isStillThere(identityOf({ id, born }), signal))) agreed += 1;
  if (agreed === CONFIRMATIONS) return born;
  const detail = "the creation date differs from that of the previous answer";
  throw new Retry({ call: `GET ${path}/${id}`, status: 200, detail }, "no");
}

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
