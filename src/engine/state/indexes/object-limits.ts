import type { KubeObject } from "../../../kube/resource.ts";
import { positionIn } from "../../../runtime/sorted.ts";
import type { Obstacle } from "../../status/reasons.ts";
import { namespaceOf, type ObjectKey, objectKey } from "../object.ts";
import type { Edit } from "./references.ts";

/** The most objects of a kind that a namespace may have. */
export type LimitOf = (kind: string) => number;

export const limitOf =
  (limits: Readonly<Record<string, number>>): LimitOf =>
  (kind) =>
    limits[kind] ?? limits["*"] ?? Number.POSITIVE_INFINITY;

/** The place of an object among those of its kind and namespace, by age. */
interface Place {
  at: number;
  name: string;
}

const compare = (a: Place, b: Place): number => a.at - b.at || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

const placeOf = ({ metadata: { creationTimestamp, name } }: KubeObject): Place => ({
  at: Date.parse(creationTimestamp ?? "") || 0,
  name,
});

/** Which objects are over the limit of their namespace: the youngest. `shifted` is called when one gets over it, or back below. */
export function createObjectLimits(limit: LimitOf, shifted: (key: ObjectKey) => void) {
  const byAge = new Map<string, Place[]>();
  const idOf = (kind: string, { metadata }: KubeObject) => objectKey(kind, metadata.namespace ?? "", "");

  function move(kind: string, object: KubeObject, way: "enter" | "leave"): void {
    const id = idOf(kind, object);
    const places = byAge.get(id) ?? [];
    const place = placeOf(object);
    const at = positionIn(places, place, compare);
    if (way === "enter") places.splice(at, 0, place);
    else if (places[at]?.name === place.name) places.splice(at, 1);
    else return;
    if (places.length === 0) byAge.delete(id);
    else byAge.set(id, places);
    const most = limit(kind);
    const crossing = at < most ? places[way === "enter" ? most : most - 1] : undefined;
    if (crossing) shifted(objectKey(kind, namespaceOf(id), crossing.name));
  }

  return {
    /** Takes in every object that appears, changes or goes. */
    note(kind: string, { before, after }: Edit): void {
      const object = after ?? before;
      // Cluster-scoped objects are the administrator's.
      if (!object?.metadata.namespace || !Number.isFinite(limit(kind))) return;
      if (before && after && compare(placeOf(before), placeOf(after)) === 0) return;
      if (before) move(kind, before, "leave");
      if (after) move(kind, after, "enter");
    },
    /** Why an object is over the limit; undefined when it is not. */
    excess(kind: string, object: KubeObject): Obstacle | undefined {
      const places = byAge.get(idOf(kind, object));
      const last = places?.[limit(kind) - 1];
      const isOver = limit(kind) === 0 || (last !== undefined && compare(last, placeOf(object)) < 0);
      return places && isOver ? tooMany(kind, limit(kind)) : undefined;
    },
  };
}

const tooMany = (kind: string, most: number): Obstacle => ({
  reason: "TooManyObjects",
  message: `a namespace may have ${most} ${kind} objects, and this one has as many that are older: ask the administrator to raise the limit (--limit ${kind}=N), or delete some of them; deletionPolicy: Retain keeps their resources`,
});
