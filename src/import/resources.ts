import type { PlatformReader } from "../diagnostics/reader.ts";
import { kinds } from "../kinds/index.ts";
import { hasResource, type ResourceKind } from "../kinds/kind.ts";
import { readingOver } from "../plan/inputs/accounts.ts";
import { NotFound } from "../platform/answers/errors.ts";
import { products } from "../platform/products/products.ts";
import { asJson, asList, type Json } from "./json.ts";

/** A resource of the platform that an object can stand for. */
export interface Resource {
  kind: ResourceKind;
  id: string;
  /** Ids of what it lives under, by role. */
  parents: Readonly<Record<string, string>>;
  raw: Json;
}

export interface Landscape {
  resources: Resource[];
  /** Kinds, or parts of them, that were not read, and why. */
  left: { what: string; why: string }[];
}

/** Kinds that are not imported, and why. */
const LEFT: Readonly<Record<string, string>> = {
  AccessToken: "the platform shows a token only once: create an AccessToken, which makes its own",
  InferenceAccess: "the platform shows a token only once: create an InferenceAccess, which makes its own",
  KafkaUser: "it stands for a Secret with a certificate: create a KafkaUser where workloads need one",
  CentralLogging: "it is a switch of the contract: create a CentralLogging where it is to be kept on or off",
};

/** Where members of a kind are: in the contract, in each datacenter, cluster, or NIC. */
type Parents = Readonly<Record<string, string>>;

export interface ImportFilter {
  kinds: ReadonlySet<string> | undefined;
  /** Ids or names of datacenters. */
  datacenters: ReadonlySet<string> | undefined;
}

/** Reads all that a contract has of the kinds that are asked for. GET only. */
export async function readLandscape(
  reader: PlatformReader,
  filter: ImportFilter,
  { signal, progress }: { signal: AbortSignal; progress(done: number, what: string): void },
): Promise<Landscape> {
  const connection = readingOver("import", reader, signal);
  const resources: Resource[] = [];
  const left: Landscape["left"] = [];
  const isAsked = ({ kind }: ResourceKind) => filter.kinds === undefined || filter.kinds.has(kind);
  const isInside = ({ kind, id, raw, parents }: Resource) => {
    const { datacenters } = filter;
    if (!datacenters || (kind.kind !== "Datacenter" && parents.datacenter !== undefined)) return true;
    return kind.kind !== "Datacenter" || datacenters.has(id) || datacenters.has(nameIn(raw));
  };
  for (const kind of kinds.filter(hasResource)) {
    const why = LEFT[kind.kind];
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
          const resource = { kind, id, parents, raw: asJson(raw) };
          if (isInside(resource)) resources.push(resource);
        }
        progress(resources.length, "resources read");
      }
    } catch (error) {
      signal.throwIfAborted();
      left.push({ what: kind.kind, why: error instanceof Error ? error.message : String(error) });
    }
  }
  // Datacenters and clusters were read to find what is in them.
  return { resources: resources.filter(({ kind }) => isAsked(kind)), left };
}

/** A parent may go while the others are read. */
const gone = (error: unknown): [] => {
  if (error instanceof NotFound) return [];
  throw error;
};

/** The places whose path is complete with these parents. */
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
