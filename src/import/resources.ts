import { pathsOf } from "../diagnostics/landscape/paths.ts";
import {
  collectionTitle,
  createReading,
  nameIn,
  type Resource,
  separateDependents,
} from "../diagnostics/landscape/resources.ts";
import type { PlatformReader } from "../diagnostics/reader.ts";
import { asJson, asList } from "../kinds/fields/compare.ts";
import { kinds } from "../kinds/index.ts";
import { hasResource, isSuccessive, type ResourceKind } from "../kinds/kind.ts";

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
  const missing = new Set(filter.datacenters);
  const others: string[] = [];
  const isWanted = ({ kind, id, raw }: Resource) => {
    if (kind.kind !== "Datacenter" || !filter.datacenters) return true;
    const isNamed = filter.datacenters.has(id) || filter.datacenters.has(nameIn(raw));
    if (!isNamed) others.push(nameIn(raw) || id);
    missing.delete(id);
    missing.delete(nameIn(raw));
    return isNamed;
  };
  const reading = createReading(reader, signal);
  for (const kind of kinds.filter(hasResource)) {
    const why = whyLeft(kind);
    if (why !== undefined) {
      reading.partial.add(kind);
      if (isAsked(kind)) left.push({ what: kind.kind, why });
      continue;
    }
    for (const path of pathsOf(kind.resource.place)) {
      const lost = (why: string) => void left.push({ what: collectionTitle(kind, path), why });
      await reading.read(kind, path, isWanted, lost);
      progress(reading.known.length, "resources read");
    }
  }
  const resources = reading.known;
  const readable = kinds.filter(hasResource).filter((kind) => isAsked(kind) && whyLeft(kind) === undefined);
  const lost = left.find(({ what }) => readable.some(({ kind }) => what.startsWith(kind)));
  if (resources.length === 0 && lost && readable.every((kind) => reading.partial.has(kind))) {
    throw new Error(`nothing could be read: ${lost.why}`);
  }
  if (missing.size > 0 && !left.some(({ what }) => what.startsWith("Datacenter"))) {
    const there = others.length > 0 ? `; others are ${others.sort().slice(0, 5).join(", ")}` : "";
    const names = [...missing].map((each) => `"${each}"`).join(", ");
    throw new Error(`there is no datacenter ${names}, by name or id, that the token's user may see${there}`);
  }
  const requested = filter.datacenters ? resources.filter(isWithin(resources)) : resources;
  const { own, dependents } = separateDependents(requested);
  for (const { kind, id } of dependents.filter((each) => isAsked(each.kind))) {
    left.push({ what: `${kind.kind} ${id}`, why: "it belongs to a ScalingGroup, which creates and deletes it" });
  }
  // Datacenters and clusters may have been read only to find their contents.
  return { resources: own.filter(({ kind }) => isAsked(kind)), left };
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
