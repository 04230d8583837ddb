import type { Shown } from "./desired.ts";

/** A part of a resource, under the same parents. `field` is the field of spec that asks for it. */
export interface Part {
  field: string;
  kind: string;
  id: string;
}

/** Resources that remain after a deletion: members of another kind's collection under the same parents. */
export interface Remains {
  kind: string;
  /** The ids of these resources, from the status fields as last written. If Mooring deleted it, its parts are gone. */
  ids(shown: Shown): string[];
  /** Whether the item is unused; undefined if the item does not show it. */
  isUnused(item: unknown): boolean | undefined;
}
