/** The product file of VM auto scaling, below /autoscaling/v1.ea or, where the platform has it there, below /autoscaling. */
import { NotFound } from "../answers/errors.ts";
import type { Connection } from "../calls/connection.ts";
import type { CollectionSource } from "../collections/reading.ts";
import { resourceCollection } from "./resource-collection.ts";

const BASES = ["/autoscaling/v1.ea", "/autoscaling"] as const;
type Base = (typeof BASES)[number];

/** The base by the address of the API, where a list was answered below the second one. */
const known = new Map<string, Base>();

const rootOf = (api: string): string => api.replace(/\/+$/, "");
const baseOf = (api: string): Base => known.get(rootOf(api)) ?? BASES[0];

/** The address of a path, for an `api` with or without a trailing slash. */
export const autoscalingUrl = (api: string, path: string): string => `${rootOf(api)}${baseOf(api)}${path}`;

/** A collection of groups. It has no pages, and a write is done when it is answered. */
export function autoscalingCollection(
  connection: Connection,
  api: string,
  path: string,
  depth: number,
): CollectionSource {
  const below = (base: Base) =>
    resourceCollection(connection, `${rootOf(api)}${base}${path}`, {
      query: { depth: String(depth) },
      isBusy: (state) => state === "BUSY",
      product: "autoscaling",
    });
  const sources = { [BASES[0]]: below(BASES[0]), [BASES[1]]: below(BASES[1]) };
  const first = sources[BASES[0]];
  return {
    ...first,
    async list(signal, priority) {
      const base = baseOf(api);
      try {
        return await sources[base].list(signal, priority);
      } catch (error) {
        const other = BASES[1];
        if (!(error instanceof NotFound) || base === other) throw error;
        const items = await sources[other].list(signal, priority);
        known.set(rootOf(api), other);
        return items;
      }
    },
    get: async (id, signal) => sources[baseOf(api)].get?.(id, signal),
    close() {
      for (const each of Object.values(sources)) each.close?.();
    },
  };
}
