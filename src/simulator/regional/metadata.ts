import type { Call } from "../http/exchange.ts";
import type { Host } from "../managed/service.ts";
import { type Stamps, shownStamps } from "../stamps.ts";
import type { World } from "../world.ts";

export const stampsOf = (world: World, { effects }: Pick<Call, "effects">, stamps: Stamps) =>
  shownStamps(world, effects.skew, stamps);

export const urnOf = ({ contractNumber }: World, { path }: Host, type: string, id: string) =>
  `urn:ionos:${path}:${contractNumber}::${type}/${id}`;
