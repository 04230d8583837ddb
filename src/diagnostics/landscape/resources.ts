import { asJson, asList, isJson, type Json } from "../../kinds/fields/compare.ts";
import { kinds } from "../../kinds/index.ts";
import { hasResource, type ResourceKind } from "../../kinds/kind.ts";
import { NotFound } from "../../platform/answers/errors.ts";
import { products } from "../../platform/products/products.ts";
import type { PlatformReader } from "../reader.ts";
import { type ParentOnPath, type Parents, pathsOf, stepsIn, withIds } from "./paths.ts";
import { readOnlyConnection } from "./read-only-connection.ts";

/** A resource of the platform that an object can represent. */
export interface Resource {
  kind: ResourceKind;
  id: string;
  /** Platform ids of the parents by role. */
  parents: Readonly<Record<string, string>>;
  raw: Json;
}

/** The identity of a resource: LAN numbers are unique only within a datacenter. */
export const resourceIdentity = ({ id, parents }: Pick<Resource, "id" | "parents">): string =>
  /^\d+$/.test(id) ? `${parents.datacenter}/${id}` : id;

/** Separates dependent resources: servers of scaling groups, and their volumes. */
export function separateDependents(all: readonly Resource[]): { own: Resource[]; dependents: Resource[] } {
  const servers = new Set(all.flatMap(({ kind, raw }) => kind.resource.output?.related?.ids(raw) ?? []));
  const isDependent = ({ id, raw, parents }: Resource) =>
    [id, parents.server, asJson(raw.properties).bootServer].some((each) => servers.has(String(each)));
  return { own: all.filter((each) => !isDependent(each)), dependents: all.filter(isDependent) };
}

/** The parent may have been deleted meanwhile. */
const emptyIfGone = (error: unknown): [] => {
  if (error instanceof NotFound) return [];
  throw error;
};

/** The innermost parent of a collection, as the platform shows it. */
interface Place {
  parents: Parents;
  raw: Json;
}

/** The members of a collection that the platform shows with the resource that they are in. */
function embeddedIn(path: string, raw: Json): { id: string; raw: Json }[] | undefined {
  const { items } = asJson(asJson(raw.entities)[path.slice(path.lastIndexOf("/") + 1)]);
  return Array.isArray(items) ? asList(items).map((each) => ({ id: String(each.id), raw: each })) : undefined;
}

/** The depth of a list that shows the collections in its items, with the properties of their members. */
const WITH_MEMBERS = 3;

/** Whether an embedded member has all that a list at this depth shows. */
const isWhole =
  (depth: number) =>
  ({ raw: { properties, metadata } }: { raw: Json }): boolean =>
    depth === 1 && isJson(properties) && isJson(metadata);

/** Reads collections, outer ones first: the resources of an outer collection show which collections are in them. */
export function createReading(reader: PlatformReader, signal: AbortSignal) {
  const connection = readOnlyConnection("landscape", reader, signal);
  const known: Resource[] = [];
  /** Kinds of which not all resources are known. */
  const partial = new Set<ResourceKind>();

  async function list({ resource: { place } }: ResourceKind, template: string, parents: Parents, depth: number) {
    const access = products[place.product];
    const path = withIds(template, parents);
    const listing = access.collection(connection, reader.endpoint(access.endpoint), path, depth).list(signal, "people");
    return Object.keys(parents).length > 0 ? listing.catch(emptyIfGone) : listing;
  }

  /** Reads the resources of a kind at a path of `pathsOf`. `lost` is called for each part that cannot be read. */
  async function read(
    kind: ResourceKind,
    path: string,
    isWanted: (resource: Resource) => boolean,
    lost: (why: string) => void,
  ): Promise<void> {
    const attempt = async <Value>(reading: () => Promise<readonly Value[]>): Promise<readonly Value[]> => {
      try {
        return await reading();
      } catch (error) {
        signal.throwIfAborted();
        partial.add(kind);
        lost(error instanceof Error ? error.message : String(error));
        return [];
      }
    };
    let places: Place[] = [{ parents: {}, raw: {} }];
    for (const step of stepsIn(path)) {
      const outer = ownerOf(kind, step);
      if (outer && partial.has(outer)) {
        partial.add(kind);
        lost(`it is in a ${outer.kind}, and not all of those were read`);
      }
      const inner: Place[] = [];
      for (const { parents, raw } of places) {
        const alreadyRead = outer ? readIn(outer, parents) : embeddedIn(step.path, raw);
        // A parent that no kind represents, such as a NAT gateway, has to be listed here, with its members.
        const found = alreadyRead ?? (await attempt(() => list(kind, step.path, parents, WITH_MEMBERS)));
        inner.push(...found.map((each) => ({ parents: { ...parents, [step.role]: each.id }, raw: asJson(each.raw) })));
      }
      places = inner;
    }
    for (const { parents, raw } of places) {
      const { depth } = kind.resource.place;
      // The list of servers shows the flow logs of each NIC, so those need no list of their own.
      const shown = embeddedIn(path, raw);
      const items = shown?.every(isWhole(depth)) ? shown : await attempt(() => list(kind, path, parents, depth));
      known.push(...items.map(({ id, raw }) => ({ kind, id, parents, raw: asJson(raw) })).filter(isWanted));
    }
  }

  const readIn = (kind: ResourceKind, place: Parents): Resource[] =>
    known.filter(
      (each) => each.kind === kind && Object.entries(place).every(([role, id]) => each.parents[role] === id),
    );

  return { known, partial, read };
}

/** The kind whose resources are the parents of this step. */
const ownerOf = ({ resource: { place } }: ResourceKind, step: ParentOnPath): ResourceKind | undefined =>
  kinds
    .filter(hasResource)
    .find(({ resource }) => resource.place.product === place.product && pathsOf(resource.place).includes(step.path));

/** A kind, and the collection of its parents if it can be in several. */
export function collectionTitle({ kind, resource: { place } }: ResourceKind, path: string): string {
  const around = stepsIn(path).at(-1)?.path ?? "";
  return pathsOf(place).length > 1 ? `${kind} in ${around.slice(around.lastIndexOf("/") + 1)}` : kind;
}

export const nameIn = (raw: Json): string => {
  const { name } = asJson(raw.properties);
  return typeof name === "string" ? name : "";
};
