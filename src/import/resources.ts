import type { PlatformReader } from "../diagnostics/reader.ts";
import { kinds } from "../kinds/index.ts";
import { hasResource, isSuccessive, type ResourceKind } from "../kinds/kind.ts";
import { readingOver } from "../plan/inputs/accounts.ts";
import { NotFound } from "../platform/answers/errors.ts";
import { products } from "../platform/products/products.ts";
import { asJson, asList, type Json } from "./json.ts";

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

/** The parents of a collection: none, or a datacenter, a cluster or a NIC. */
type Parents = Readonly<Record<string, string>>;

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
  const connection = readingOver("import", reader, signal);
  const resources: Resource[] = [];
  const left: Landscape["left"] = [];
  const isAsked = ({ kind }: ResourceKind) => filter.kinds === undefined || filter.kinds.has(kind);
  const isChosen = (id: string, raw: Json) => filter.datacenters?.has(id) || filter.datacenters?.has(nameIn(raw));
  for (const kind of kinds.filter(hasResource)) {
    const why = whyLeft(kind);
    if (why !== undefined) {
      if (isAsked(kind)) left.push({ what: kind.kind, why });
      continue;
    }
    const { place } = kind.resource;
    const access = products[place.product];
    try {
      for (const parents of placesOf(kind, resources)) {
        const path = place.collection(parents);
        const source = access.collection(connection, reader.endpoint(access.endpoint), path, place.depth);
        const items = await source.list(signal, "people").catch(gone);
        for (const { id, raw } of items) {
          const isElsewhere = kind.kind === "Datacenter" && filter.datacenters && !isChosen(id, asJson(raw));
          if (!isElsewhere) resources.push({ kind, id, parents, raw: asJson(raw) });
        }
        progress(resources.length, "resources read");
      }
    } catch (error) {
      signal.throwIfAborted();
      left.push({ what: kind.kind, why: error instanceof Error ? error.message : String(error) });
    }
  }
  const inside = filter.datacenters ? resources.filter(isWithin(resources)) : resources;
  const { own, brought } = withoutBrought(inside);
  for (const { kind, id } of brought.filter((each) => isAsked(each.kind))) {
    left.push({ what: `${kind.kind} ${id}`, why: "it belongs to a ScalingGroup, which creates and deletes it" });
  }
  // Datacenters and clusters may have been read only to find their contents.
  return { resources: own.filter(({ kind }) => isAsked(kind)), left };
}

/** Separates dependent resources: servers of scaling groups, and their volumes. */
function withoutBrought(all: readonly Resource[]): { own: Resource[]; brought: Resource[] } {
  const servers = new Set(all.flatMap(({ kind, raw }) => kind.resource.output?.related?.ids(raw) ?? []));
  const isBrought = ({ id, raw, parents }: Resource) =>
    [id, parents.server, asJson(raw.properties).bootServer].some((each) => servers.has(String(each)));
  return { own: all.filter((each) => !isBrought(each)), brought: all.filter(isBrought) };
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
const gone = (error: unknown): [] => {
  if (error instanceof NotFound) return [];
  throw error;
};

/** The parents that make the path of the collection complete. */
function placesOf({ resource: { place } }: ResourceKind, known: readonly Resource[]): Parents[] {
  const isWhole = (parents: Parents) => !/\/\/|\/$|undefined/.test(place.collection(parents));
  if (isWhole({})) return [{}];
  const of = (kind: string) => known.filter((each) => each.kind.kind === kind);
  const within: Parents[][] = [
    of("Datacenter").map(({ id }) => ({ datacenter: id })),
    of("KafkaCluster").map(({ id }) => ({ cluster: id })),
    of("Server").flatMap(({ id, parents, raw }) =>
      asList(asJson(asJson(raw.entities).nics).items).map((nic) => ({ ...parents, server: id, nic: String(nic.id) })),
    ),
  ];
  const sample = within.find(([first]) => first && isWhole(first));
  return sample ?? [];
}

export const nameIn = (raw: Json): string => {
  const { name } = asJson(raw.properties);
  return typeof name === "string" ? name : "";
};
