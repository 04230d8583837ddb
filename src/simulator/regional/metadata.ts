import type { Call } from "../http/exchange.ts";
import { timestamp } from "../time.ts";
import type { World } from "../world.ts";
import type { Service } from "./service.ts";

/** Who made something and who changed it last. */
export interface Stamps {
  createdAt: number;
  createdBy: string;
  modifiedAt: number;
  modifiedBy: string;
}

export function stampsOf(world: World, { effects: { skew } }: Pick<Call, "effects">, stamps: Stamps) {
  const nameOf = (userId: string) => world.identity.users.get(userId)?.username ?? "";
  return {
    createdDate: timestamp(stamps.createdAt + skew),
    createdBy: nameOf(stamps.createdBy),
    createdByUserId: stamps.createdBy,
    lastModifiedDate: timestamp(stamps.modifiedAt + skew),
    lastModifiedBy: nameOf(stamps.modifiedBy),
    lastModifiedByUserId: stamps.modifiedBy,
  };
}

export const urnOf = ({ contractNumber }: World, { path }: Service, type: string, id: string) =>
  `urn:ionos:${path}:${contractNumber}::${type}/${id}`;
