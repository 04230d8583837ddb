/** Where resources are on the platform, as far as their kinds tell. */
import type { Shown } from "./desired.ts";
import type { Kind } from "./kind.ts";
import type { Part } from "./parts.ts";

interface Place {
  id: string;
  parents: Readonly<Record<string, string>>;
  endpoint: string;
  born?: string | undefined;
}

/** An id is unique at one address, or in one namespace. */
export const at = (where: string | undefined, id: string): string => `${where ?? ""} ${id}`;

/** `identityOf`: the id of a resource, with what tells it from a later one with the same id. */
export function createPlaces(kinds: readonly Kind[], identityOf: (place: Place) => string) {
  const byName = new Map(kinds.map((kind) => [kind.kind, kind]));
  /** Several kinds may have resources of one type: what one of them has, no other takes. */
  const typeOf = (kind: string): string => {
    const { place, names } = byName.get(kind)?.resource ?? {};
    return place && names ? `${place.product}/${names.type}` : kind;
  };
  /** An id alone may not be unique: LANs are numbered in each datacenter. */
  const collectionOf = (kind: string, within: Place["parents"]): string =>
    `${typeOf(kind)}${byName.get(kind)?.resource?.place.collection(within) ?? ""}`;
  const placeOf = (kind: string, place: Place): string =>
    at(place.endpoint, `${collectionOf(kind, place.parents)}/${identityOf(place)}`);
  /** The places of a resource and of its parts. */
  const placesOf = (kind: Kind, place: Place, spec: unknown, shown: () => Shown): string[] => [
    placeOf(kind.kind, place),
    ...partsOf(kind, spec, shown).map((part) => placeOf(part.kind, { ...place, id: part.id, born: undefined })),
  ];
  return { typeOf, collectionOf, placeOf, placesOf };
}

/** The resources that are created and deleted with this one, and that an object of another kind could adopt. */
export const partsOf = ({ resource }: Kind, spec: unknown, shown: () => Shown): Part[] =>
  resource?.place.parts?.(Object(spec), shown()) ?? [];

export const partTaken = ({ field, kind, id }: Part): string =>
  `is not adopted: its ${field} is ${kind} ${id}, which another object has: leave out ${field}, so that both stay what they are`;
