import { timestamp } from "./time.ts";
import type { World } from "./world.ts";

/** Who made something and who changed it last. */
export interface Stamps {
  createdAt: number;
  createdBy: string;
  modifiedAt: number;
  modifiedBy: string;
}

/** Stamps as metadata shows them, by a clock that is off by `skew`. */
export function shownStamps({ identity }: World, skew: number, stamps: Stamps) {
  const nameOf = (userId: string) => identity.users.get(userId)?.username ?? "";
  return {
    createdDate: timestamp(stamps.createdAt + skew),
    createdBy: nameOf(stamps.createdBy),
    createdByUserId: stamps.createdBy,
    lastModifiedDate: timestamp(stamps.modifiedAt + skew),
    lastModifiedBy: nameOf(stamps.modifiedBy),
    lastModifiedByUserId: stamps.modifiedBy,
  };
}
