import { isVisible } from "../store/shown.ts";
import { timestamp } from "../time.ts";
import type { World } from "../world.ts";
import type { Managed } from "./kind.ts";

/** What steering shows of one kind: nothing that only its creation tells. */
export const managedState = <F>(world: World, kind: Managed<F>) =>
  [...kind.table(world).values()].map((row) => ({
    id: row.id,
    type: kind.type,
    state: row.state,
    failure: row.failure,
    visible: isVisible(row, world.clock.now()),
    createdDate: timestamp(row.createdAt),
    createdByUserId: row.createdBy,
    properties: kind.properties(row),
  }));
