import type { Found } from "../../cluster/steering.ts";

/** Prefix of everything that a person creates on the platform. It belongs to no object. */
const PREFIX = "by-hand-";

/** A manual change that must not be undone. */
export interface Deed {
  name: string;
  /** A description: `attached to Server shop/web`. */
  what: string;
  id: string;
  datacenter: string;
}

export interface MadeByHand {
  /** Volumes that were attached to a server of Mooring. */
  volumes: Deed[];
  lans: Deed[];
}

export const byHandName = (nth: number): string => `${PREFIX}${nth}`;

export const isByHand = ({ properties }: Found): boolean => properties?.name?.startsWith(PREFIX) ?? false;
