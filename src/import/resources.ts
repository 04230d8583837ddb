import type { PlatformReader } from "../diagnostics/reader.ts";
import { kinds } from "../kinds/index.ts";
import { hasResource, isSuccessive, type ResourceKind } from "../kinds/kind.ts";
import { readingOver } from "../plan/inputs/accounts.ts";
import { NotFound } from "../platform/answers/errors.ts";
import { products } from "../platform/products/products.ts";
import { asJson, asList, type Json } from "./json.ts";
import { type Parents, pathsOf, type Step, stepsIn, withIds } from "./parents.ts";

/** A resource of the platform that an object can represent. */
export interface Resource {
  kind: ResourceKind;
  id: string;
  /** Platform ids of the parents by role. */
  parents: Readonly<Record<string, string>>;
  raw: Json;
}

export interface Landscape {
  resources: Resource[];
  /** Kinds or parts that were not read, with the reason. */
  left: { what: string; why: string }[];
}

/** The reason why a kind is not imported, if it is not. */
function whyLeft(kind: ResourceKind): string | undefined {
  const { secret, identity } = kind.resource;
  if (isSuccessive(kind))
    return `the platform shows a token only once: create an object of kind ${kind.kind}, which creates its own`;
  if (secret?.certificate)
    return `it is only a Secret with a certificate: create an object of kind ${kind.kind} where workloads need one`;
  if (identity.permanent) return `it is a switch of the contract: create an object of kind ${kind.kind} to manage it`;
  return undefined;
}

export interface ImportFilter {
  kinds: ReadonlySet<string> | undefined;
  /** Ids or names of datacenters. */
  datacenters: ReadonlySet<string> | undefined;
}

/** Reads all resources of a contract of the requested kinds. GET only. */
export async function readLandscape(
  reader: PlatformReader,
  filter: ImportFilter,
  { signal, progress }: { signal: AbortSignal; progress(done: number, what: string): void },
): Promise<Landscape> {
  const left: Landscape["left"] = [];
  const isAsked = ({ kind }: ResourceKind) => filter.kinds === undefined || filter.kinds.has(kind);
  const isWanted = ({ kind, id, raw }: Resource) =>
    kind.kind !== "Datacenter" ||
    !filter.datacenters ||
    filter.datacenters.has(id) ||
    filter.datacenters.has(nameIn(raw));
  const reading = createReading(reader, signal);
  for (const kind of kinds.filter(hasResource)) {
    const why = whyLeft(kind);
    if (why !== undefined) {
      reading.partial.add(kind);
      if (isAsked(kind)) left.push({ what: kind.kind, why });
      continue;
    }
    for (const path of pathsOf(kind.resource.place)) {
      const lost = (why: string) => void left.push({ what: titleOf(kind, path), why });
      await reading.read(kind, path, isWanted, lost);
      progress(reading.known.length, "resources read");
    }
  }
  const resources = reading.known;
  const requested = filter.datacenters ? resources.filter(isWithin(resources)) : resources;
  const { own, dependents } = separateDependents(requested);
  for (const { kind, id } of dependents.filter((each) => isAsked(each.kind))) {
    left.push({ what: `${kind.kind} ${id}`, why: "it belongs to a ScalingGroup, which creates and deletes it" });
  }
  // Datacenters and clusters may have been read only to find their contents.
  return { resources: own.filter(({ kind }) => isAsked(kind)), left };
}

/** Separates dependent resources: servers of scaling groups, and their volumes. */
function separateDependents(all: readonly Resource[]): { own: Resource[]; dependents: Resource[] } {
  const servers = new Set(all.flatMap(({ kind, raw }) => kind.resource.output?.related?.ids(raw) ?? []));
  const isDependent = ({ id, raw, parents }: Resource) =>
    [id, parents.server, asJson(raw.properties).bootServer].some((each) => servers.has(String(each)));
  return { own: all.filter((each) => !isDependent(each)), dependents: all.filter(isDependent) };
}

/** Whether a resource is in one of the datacenters, or used there. */
function isWithin(all: readonly Resource[]): (resource: Resource) => boolean {
  const ids = new Set(all.flatMap(({ kind, id }) => (kind.kind === "Datacenter" ? id : [])));
  const isIn = (id: unknown) => ids.has(String(id));
  const inside = ({ kind, raw, parents }: Resource): boolean => {
    const properties = asJson(raw.properties);
    if (kind.kind === "Datacenter" || isIn(parents.datacenter)) return true;
    if (
      isIn(asJson(properties.datacenter).id) ||
      asList(properties.connections).some((each) => isIn(each.datacenterId))
    )
      return true;
    return asList(properties.ipConsumers).some((each) => isIn(each.datacenterId));
  };
  const clusters = new Set(all.filter(inside).map(({ id }) => id));
  return (each) => inside(each) || clusters.has(each.parents.cluster ?? "");
}

/** The parent may have been deleted meanwhile. */
const emptyIfGone = (error: unknown): [] => {
  if (error instanceof NotFound) return [];
  throw error;
};

/** Reads collections, outer ones first: the resources of an outer collection show which collections are in them. */
function createReading(reader: PlatformReader, signal: AbortSignal) {
  const connection = readingOver("import", reader, signal);
  const known: Resource[] = [];
  /** Kinds of which not all resources are known. */
  const partial = new Set<ResourceKind>();

  async function list({ resource: { place } }: ResourceKind, path: string, depth: number) {
    const access = products[place.product];
    const source = access.collection(connection, reader.endpoint(access.endpoint), path, depth);
    return source.list(signal, "people").catch(emptyIfGone);
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
    let places: Parents[] = [{}];
    for (const step of stepsIn(path)) {
      const outer = ownerOf(kind, step);
      if (outer && partial.has(outer)) lost(`it is in a ${outer.kind}, and not all of those were read`);
      const inner: Parents[] = [];
      for (const place of places) {
        const alreadyRead = outer ? idsOf(outer, place) : embeddedIn(step, place);
        // A parent that no kind represents, such as a NAT gateway, has to be listed here.
        const found = alreadyRead ?? (await attempt(() => list(kind, withIds(step.path, place), 1)));
        inner.push(...found.map(({ id }) => ({ ...place, [step.role]: String(id) })));
      }
      places = inner;
    }
    for (const parents of places) {
      const items = await attempt(() => list(kind, withIds(path, parents), kind.resource.place.depth));
      known.push(...items.map(({ id, raw }) => ({ kind, id, parents, raw: asJson(raw) })).filter(isWanted));
    }
  }

  const idsOf = (kind: ResourceKind, place: Parents): { id: unknown }[] =>
    known.filter(
      (each) => each.kind === kind && Object.entries(place).every(([role, id]) => each.parents[role] === id),
    );

  /** The members of a collection that the platform shows with the resource that they are in. */
  function embeddedIn({ path }: Step, place: Parents): { id?: unknown }[] | undefined {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const outer = known.find(({ id }) => Object.values(place).at(-1) === id);
    const { items } = asJson(asJson(outer?.raw.entities)[name]);
    return Array.isArray(items) ? asList(items) : undefined;
  }

  return { known, partial, read };
}

/** The kind whose resources are the parents of this step. */
const ownerOf = ({ resource: { place } }: ResourceKind, step: Step): ResourceKind | undefined =>
  kinds
    .filter(hasResource)
    .find(({ resource }) => resource.place.product === place.product && pathsOf(resource.place).includes(step.path));

/** A kind, and the collection of its parents if it can be in several. */
function titleOf({ kind, resource: { place } }: ResourceKind, path: string): string {
  const around = stepsIn(path).at(-1)?.path ?? "";
  return pathsOf(place).length > 1 ? `${kind} in ${around.slice(around.lastIndexOf("/") + 1)}` : kind;
}

export const nameIn = (raw: Json): string => {
  const { name } = asJson(raw.properties);
  return typeof name === "string" ? name : "";
};
