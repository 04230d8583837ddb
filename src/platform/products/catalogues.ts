import { z } from "zod";
import type { Clock } from "../../runtime/clock.ts";
import type { Connection } from "../calls/transport.ts";

/**
 * Catalogues change rarely, and many objects created together read the same one. They are large, so few are cached, for a short
 * time.
 */
const FRESH_MS = 60_000;
const MOST = 16;

export interface Catalogues {
  /** Reads a catalogue, or returns the cached one. */
  read(connection: Connection, url: string, product: string): Promise<unknown>;
  readonly size: number;
}

export function createCatalogues(clock: Clock): Catalogues {
  const kept = new Map<string, { connection: Connection; body: unknown }>();
  return {
    async read(connection, url, product) {
      const key = `${connection.id} ${url}`;
      const known = kept.get(key);
      // A recreated Account of the same name may see another catalogue.
      if (known?.connection === connection) return known.body;
      const entry = { connection, body: (await connection.send({ method: "GET", url, product })).body };
      kept.delete(key);
      kept.set(key, entry);
      const [oldest] = kept.keys();
      if (kept.size > MOST && oldest !== undefined) kept.delete(oldest);
      clock.after(FRESH_MS, () => kept.get(key) === entry && kept.delete(key));
      return entry.body;
    },
    get size() {
      return kept.size;
    },
  };
}

const item = z.looseObject({ id: z.string(), properties: z.looseObject({ public: z.boolean().nullish() }) });
const listed = z.looseObject({ items: z.array(item) });

/** A catalogue without the private images of the contract. */
export function publicPart(catalogue: unknown): unknown {
  const { data } = listed.safeParse(catalogue);
  const isShown = ({ properties }: z.output<typeof item>) => !("public" in properties) || properties.public;
  return data ? { ...data, items: data.items.filter(isShown) } : catalogue;
}

/** Whether a catalogue has an image with this id that every contract may use. */
export const isPublic = (catalogue: unknown, id: string): boolean =>
  listed.parse(catalogue).items.some((each) => each.id === id && each.properties.public === true);
