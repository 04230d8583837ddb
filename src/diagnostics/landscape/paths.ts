import type { Place } from "../../kinds/kind.ts";

/** Platform ids by role: the parents that a collection is in. */
export type Parents = Readonly<Record<string, string>>;

/** Marks a role in the path of a collection. */
const MARK = "~";

const isWhole = (path: string): boolean => !/\/\/|\/$|undefined/.test(path);

/**
 * The paths of a kind's collections with roles instead of ids, such as /datacenters/~datacenter/servers. A kind declares its
 * parents only by the function that makes the path, so this asks the function: every role that it reads is filled in
 * until the path has no gap. There are several paths if the resource can be in different parents.
 */
export function pathsOf(place: Pick<Place, "collection">, given: Parents = {}): string[] {
  const read = new Set<string>();
  const watched = new Proxy(given, {
    get(target, role) {
      read.add(String(role));
      return target[String(role)];
    },
  });
  const path = place.collection(watched);
  if (isWhole(path)) return [path];
  const missing = [...read].filter((role) => !(role in given));
  return [...new Set(missing.flatMap((role) => pathsOf(place, { ...given, [role]: MARK + role })))];
}

/** A parent on the way to a collection. */
export interface ParentOnPath {
  role: string;
  /** The collection that the parent is in, with roles instead of ids. */
  path: string;
}

/** The parents in a path of `pathsOf`, outermost first. */
export function stepsIn(path: string): ParentOnPath[] {
  const parts = path.split("/");
  return parts.flatMap((part, nth) =>
    part.startsWith(MARK) ? [{ role: part.slice(MARK.length), path: parts.slice(0, nth).join("/") }] : [],
  );
}

/** A path of `pathsOf` with the ids of these parents. */
export const withIds = (path: string, parents: Parents): string =>
  path
    .split("/")
    .map((part) => (part.startsWith(MARK) ? encodeURIComponent(parents[part.slice(MARK.length)] ?? "") : part))
    .join("/");
