import type { Found } from "../cluster/steering.ts";

/** Everything that a person makes on the platform is called like that, and belongs to no object. */
const PREFIX = "by-hand-";

/** What a person has made, by name, and what nobody may take away any more. */
export interface MadeByHand {
  /** Volumes that were attached to a server of Mooring's. */
  volumes: string[];
  lans: string[];
}

export const byHandName = (nth: number): string => `${PREFIX}${nth}`;

export const isByHand = ({ properties }: Found): boolean => properties?.name?.startsWith(PREFIX) ?? false;
