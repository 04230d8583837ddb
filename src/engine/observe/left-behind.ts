import { hasResource } from "../../kinds/kind.ts";
import type { ResourceStatus } from "../status/schema.ts";
import { readFacts } from "../status/status.ts";
import type { Deps } from "./deps.ts";
import type { Context } from "./view.ts";

/** Something that the previous resource of an object has left on the platform. */
export type LeftBehind = NonNullable<ResourceStatus["leftBehind"]>[number];

/** Status keeps so many, the youngest. */
const MOST = 20;

/** Whether an object has it. */
const isClaimed = ({ objects }: Pick<Deps, "objects">, { kind, id, parents }: LeftBehind, endpoint?: string): boolean =>
  objects.claimants(kind, { id, parents, endpoint }).length > 0;

/**
 * What the resource of an object, which is gone, may have left behind, with what is left of those before. `deleted`: Mooring
 * has deleted it itself. Whether it is there, its collection tells later.
 */
export function leavingBehind(
  deps: Pick<Deps, "objects">,
  { kind, object, status, view: { claim } }: Pick<Context, "kind" | "object" | "status" | "view">,
  deleted: boolean,
): LeftBehind[] | undefined {
  const { remains } = kind.resource.destruction;
  const { leftBehind: before = [] } = status;
  if (!remains || !claim) return status.leftBehind;
  const { parents, endpoint } = claim;
  const left = remains
    .ids(readFacts(object), deleted)
    .map((id) => ({ kind: remains.kind, id, parents: { ...parents } }));
  const known = new Set(left.map(({ id }) => id));
  const all = [
    ...before.filter(({ id }) => !known.has(id)),
    ...left.filter((each) => !isClaimed(deps, each, endpoint)),
  ];
  return all.length > 0 ? all.slice(-MOST) : undefined;
}

/**
 * What is left of that: all that may be there, and what certainly is. What is gone, used by something or an object's own is
 * dropped. One collection is read, that of the youngest; those elsewhere wait until that is empty.
 */
export function leftBehindNow(
  deps: Pick<Deps, "objects" | "collections">,
  {
    key,
    kind,
    account,
    status,
    view,
    memory,
  }: Pick<Context, "key" | "kind" | "account" | "status" | "view" | "memory">,
): { leftBehind: LeftBehind[] | undefined; there: LeftBehind[] } {
  const { leftBehind: before = [] } = status;
  const { remains } = kind.resource.destruction;
  const youngest = before.at(-1);
  if (!youngest || !account || !remains) return { leftBehind: status.leftBehind, there: [] };
  const held = deps.objects.kinds.filter(hasResource).find((each) => each.kind === remains.kind);
  if (!held) return { leftBehind: undefined, there: [] };
  const where = ({ parents }: LeftBehind) => held.resource.place.collection(parents);
  const here = before.filter((each) => where(each) === where(youngest));
  const read = (ids: string[]) => deps.collections.related(key, account, held, youngest.parents, ids, "remains");
  const ids = here.map(({ id }) => id);
  const collection = read(ids);
  const { goneAt = 0 } = memory;
  const stateOf = (each: LeftBehind): "there" | "unknown" | "over" => {
    // With its parent it is gone as well.
    if (collection?.gone || isClaimed(deps, each, view.claim?.endpoint)) return "over";
    const { item, asOf = 0 } = collection?.read(each.id) ?? {};
    if (asOf <= goneAt) return "unknown";
    const isUnused = item ? remains.isUnused(item.raw) : false;
    return isUnused === undefined ? "unknown" : isUnused ? "there" : "over";
  };
  const states = new Map(here.map((each) => [each, stateOf(each)]));
  const there = here.filter((each) => states.get(each) === "there");
  const left = before.filter((each) => states.get(each) !== "over");
  // A list from before the resource went does not tell.
  if ((collection?.listedAt ?? Number.POSITIVE_INFINITY) <= goneAt) collection?.refresh(ids);
  if (left.length === 0) read([]);
  return { leftBehind: left.length > 0 ? left : undefined, there };
}
