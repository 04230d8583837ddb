import type { Found } from "../cluster/steering.ts";

/** Everything that a person makes on the platform is called like that, and belongs to no object. */
const PREFIX = "by-hand-";

/** Something that a person has made and nobody may take away any more. */
export interface Deed {
  name: string;
  /** In words: `attached to Server shop/web`. */
  what: string;
  id: string;
  datacenter: string;
}

export interface MadeByHand {
  /** Volumes that were attached to a server of Mooring's. */
  volumes: Deed[];
  lans: Deed[];
}

export const byHandName = (nth: number): string => `${PREFIX}${nth}`;

export const isByHand = ({ properties }: Found): boolean => properties?.name?.startsWith(PREFIX) ?? false;
