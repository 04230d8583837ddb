import { z } from "zod";
import { holdingsOf } from "../engine/state/object.ts";
import { kinds } from "../kinds/index.ts";
import { hasResource, type ResourceKind } from "../kinds/kind.ts";
import { NotFound } from "../platform/answers/errors.ts";
import { products } from "../platform/products/products.ts";
import { catalogue, currencyOf, priceOf } from "./cost.ts";
import { allObjects, type MooringObject } from "./objects.ts";
import type { PlatformReader } from "./reader.ts";
import type { Sources } from "./sources.ts";

const item = z.looseObject({
  id: z.string(),
  properties: z.looseObject({ name: z.string().nullish(), bootServer: z.string().nullish() }).nullish(),
  metadata: z.looseObject({ createdDate: z.string().nullish(), createdBy: z.string().nullish() }).nullish(),
});
type Item = z.output<typeof item>;
const page = z.looseObject({ items: z.array(item), _links: z.looseObject({ next: z.string().nullish() }).nullish() });
const MOST_PAGES = 50;

interface Found {
  kind: ResourceKind;
  /** Undefined for a resource outside of datacenters. */
  datacenter: string | undefined;
  /** Path of the collection. */
  path: string;
  item: Item;
}

/** Resources on the platform without an object, and objects whose resource is not on the platform. */
export async function orphanReport(sources: Sources) {
  const platform = await sources.platform();
  const objects = [...(await allObjects(sources, undefined)).values()];
  const ours = (each: MooringObject) =>
    holdingsOf(each.object).filter(({ contract }) => contract === undefined || contract === platform.contractNumber);
  const held = new Map(
    objects.flatMap((each) => ours(each).map((claim) => [identityOf(claim.id, claim.parents), each])),
  );
  const { found, checked, notChecked } = await everything(platform, sources);

  // Prices are optional: not every user may read them.
  const prices = await catalogue(platform, sources.signal).catch((error: unknown) => {
    sources.signal.throwIfAborted();
    notChecked.push({ kind: "prices", why: error instanceof Error ? error.message : String(error) });
    return undefined;
  });

  // Dependent resources are not orphans: boot volumes of servers, servers of scaling groups.
  const isHeld = ({ datacenter, item: { id } }: Found) => held.has(identityOf(id, datacenter ? { datacenter } : {}));
  const dependents = new Set(
    found.filter(isHeld).flatMap(({ kind, item }) => kind.resource.output?.related?.ids(item) ?? []),
  );
  const isDependent = ({ item: { id, properties } }: Found) => {
    const server = properties?.bootServer;
    return dependents.has(id) || (server != null && (dependents.has(server) || held.has(server)));
  };
  const existing = new Set(
    found.map(({ datacenter, item: { id } }) => identityOf(id, datacenter ? { datacenter } : {})),
  );
  return {
    without_object: found
      .filter((each) => !isHeld(each) && !isDependent(each))
      .map(({ kind, datacenter, path, item: { id, properties, metadata } }) => ({
        kind: kind.kind,
        id,
        name: properties?.name ?? undefined,
        datacenter,
        created: metadata?.createdDate ?? undefined,
        created_by: metadata?.createdBy ?? undefined,
        ...(prices && { per_month: priceOf(prices, kind.kind, properties).per_month }),
        take_over: `create a ${kind.kind} with spec.externalId: ${id}`,
        delete: `DELETE ${path}/${id} (${kind.resource.place.product})`,
      })),
    without_resource: objects
      .filter(({ kind }) => checked.has(kind.kind))
      .flatMap((each) =>
        ours(each)
          .filter(({ id, parents }) => !existing.has(identityOf(id, parents)))
          .map(({ id }) => ({ object: each.key, id })),
      ),
    ...(prices && { currency: currencyOf(prices) }),
    checked: [...checked],
    not_checked: notChecked,
  };
}

/** Numeric ids are unique only within their datacenter. */
const identityOf = (id: string, parents: Readonly<Record<string, string>>): string =>
  /^\d+$/.test(id) ? `${parents.datacenter ?? ""}/${id}` : id;

/** All resources of the kinds whose collections can be derived from the datacenters. */
async function everything(platform: PlatformReader, sources: Sources) {
  const found: Found[] = [];
  const checked = new Set<string>();
  const notChecked: { kind: string; why: string }[] = [];
  /** Undefined until they are read. Collections inside datacenters need them. */
  let datacenters: string[] | undefined;
  for (const kind of kinds.filter(hasResource)) {
    const { place, identity } = kind.resource;
    if (identity.permanent || identity.shared || place.product === "auth") continue;
    const paths = collectionsOf(kind, datacenters);
    if (typeof paths === "string") {
      notChecked.push({ kind: kind.kind, why: paths });
      continue;
    }
    try {
      for (const [datacenter, path] of paths) {
        const items = await readItems(platform, kind, path, sources);
        for (const each of items) found.push({ kind, datacenter, path, item: each });
        if (kind.kind === "Datacenter") datacenters = items.map(({ id }) => id);
      }
      checked.add(kind.kind);
    } catch (error) {
      sources.signal.throwIfAborted();
      notChecked.push({ kind: kind.kind, why: error instanceof Error ? error.message : String(error) });
    }
  }
  return { found, checked, notChecked };
}

/** The collections of a kind: one, or one per datacenter; or the reason why they are not known. */
function collectionsOf({ resource: { place } }: ResourceKind, datacenters: string[] | undefined) {
  const elsewhere = "it lives in a resource of another kind";
  const isWhole = (path: string) => !path.includes("//") && !path.includes("undefined");
  try {
    const path = place.collection({});
    if (isWhole(path)) return [[undefined, path] as const];
    if (!isWhole(place.collection({ datacenter: "x" }))) return elsewhere;
    if (datacenters === undefined) return "the datacenters could not be read";
    return datacenters.map((datacenter) => [datacenter, place.collection({ datacenter })] as const);
  } catch {
    return elsewhere;
  }
}

async function readItems(
  platform: PlatformReader,
  { kind, resource: { place } }: ResourceKind,
  path: string,
  { signal, progress }: Sources,
): Promise<Item[]> {
  const { endpoint, url } = products[place.product];
  const items: Item[] = [];
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    // The depth that the kind needs to find dependent resources.
    const query = new URLSearchParams({
      depth: String(Math.max(1, place.depth)),
      offset: String(items.length),
      limit: "1000",
    });
    const address = `${url(platform.endpoint(endpoint), path)}?${query}`;
    const reply = await platform.read({ method: "GET", url: address, product: place.product, signal }).catch(
      // The datacenter may have been deleted meanwhile.
      (error: unknown) => {
        if (error instanceof NotFound) return undefined;
        throw error;
      },
    );
    if (reply === undefined) return [];
    const read = page.parse(reply.body);
    items.push(...read.items);
    progress(items.length, `${kind} resources read`);
    if (read.items.length === 0 || !read._links?.next) return items;
  }
  return items;
}
