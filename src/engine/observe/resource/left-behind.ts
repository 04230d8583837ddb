import { hasResource } from "../../../kinds/kind.ts";
import { partsOf } from "../../../kinds/places.ts";
import type { Claim } from "../../state/intent.ts";
import type { ObjectKey } from "../../state/object.ts";
import type { ResourceStatus } from "../../status/schema.ts";
import { readFacts } from "../../status/status.ts";
import type { Deps } from "../deps.ts";
import type { Context } from "../view.ts";

/** A dependent that the previous resource of an object has left on the platform. */
export type LeftBehind = NonNullable<ResourceStatus["leftBehind"]>[number];

/** Status keeps this many, the newest. */
const MOST = 20;

/** Whether another object has it. */
const isClaimed = ({ objects }: Deps, key: ObjectKey, { kind, ...place }: LeftBehind, { endpoint }: Claim): boolean =>
  objects.claimants(kind, { ...place, endpoint }).some((each) => each !== key);

/** The dependents that status has as left behind, and those that a lost resource may have left. `deleted`: Mooring deleted it. */
export function leavingBehind(deps: Deps, { key, kind, object, status, view }: Context, deleted: boolean) {
  const { claim } = view.resource;
  const { remains } = kind.resource.destruction;
  const { leftBehind: before = [] } = status;
  if (!remains || !claim) return status.leftBehind;
  const { parents } = claim;
  const shown = readFacts(object);
  const parts = deleted ? partsOf(kind, object.spec, () => shown).map(({ id }) => id) : [];
  const ids = remains.ids(shown).filter((id) => !parts.includes(id));
  const left = ids.map((id) => ({ kind: remains.kind, id, parents: { ...parents } }));
  const earlier = before.filter(({ id }) => !ids.includes(id));
  const all = [...earlier, ...left.filter((each) => !isClaimed(deps, key, each, claim))];
  return all.length > 0 ? all.slice(-MOST) : undefined;
}

/** The dependents that may still be left behind, and those that certainly are (`there`). Reads one collection, that of the newest. */
export function leftBehindNow(deps: Deps, { key, kind, account, status, view, memory }: Context) {
  const { leftBehind: before = [] } = status;
  const { remains } = kind.resource.destruction;
  const youngest = before.at(-1);
  const { claim } = view.resource;
  const leftKind = youngest && deps.objects.kinds.filter(hasResource).find((each) => each.kind === youngest.kind);
  if (!youngest || !account || !claim || !remains || !leftKind) return { leftBehind: status.leftBehind, there: [] };
  const pathOf = ({ parents }: LeftBehind) => leftKind.resource.place.collection(parents);
  const here = before.filter((each) => pathOf(each) === pathOf(youngest));
  const where = { account, kind: leftKind, parents: youngest.parents };
  const join = (ids: string[]) => deps.collections.related(key, where, ids, "remains");
  const ids = here.map(({ id }) => id);
  const collection = join(ids);
  const { goneAt = 0 } = memory;
  const stateOf = (each: LeftBehind): "there" | "unknown" | "over" => {
    // The collection is gone, with everything in it.
    if (collection?.gone || isClaimed(deps, key, each, claim)) return "over";
    const { item, asOf = 0 } = collection?.read(each.id) ?? {};
    if (asOf <= goneAt) return "unknown";
    const isUnused = item ? remains.isUnused(item.raw) : false;
    return isUnused === undefined ? "unknown" : isUnused ? "there" : "over";
  };
  const states = new Map(here.map((each) => [each, stateOf(each)]));
  const there = here.filter((each) => states.get(each) === "there");
  const left = before.filter((each) => states.get(each) !== "over");
  // The last list is from before the resource was given up.
  if ((collection?.listedAt ?? Number.POSITIVE_INFINITY) <= goneAt) collection?.refresh(ids);
  if (left.length === 0) join([]);
  return { leftBehind: left.length > 0 ? left : undefined, there };
}
