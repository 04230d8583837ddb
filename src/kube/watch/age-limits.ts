import { positionIn } from "../../runtime/sorted.ts";
import type { KubeObject } from "../resource.ts";
import type { Change } from "./store.ts";

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
export function createAgeLimits(limit: LimitOf, shifted: (kind: string, namespace: string, name: string) => void) {
  const byAge = new Map<string, Place[]>();
  const idOf = (kind: string, { metadata }: KubeObject) => `${kind}/${metadata.namespace}`;

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
    if (crossing) shifted(kind, object.metadata.namespace ?? "", crossing.name);
  }

  return {
    /** Takes in every object that appears, changes or goes. */
    note(kind: string, { before, after }: Pick<Change<KubeObject>, "before" | "after">): void {
      const object = after ?? before;
      // Cluster-scoped objects are the administrator's.
      if (!object?.metadata.namespace || !Number.isFinite(limit(kind))) return;
      if (before && after && compare(placeOf(before), placeOf(after)) === 0) return;
      if (before) move(kind, before, "leave");
      if (after) move(kind, after, "enter");
    },
    isOver(kind: string, object: KubeObject): boolean {
      const places = byAge.get(idOf(kind, object));
      const last = places?.[limit(kind) - 1];
      return places !== undefined && (limit(kind) === 0 || (last !== undefined && compare(last, placeOf(object)) < 0));
    },
  };
}
