import { z } from "zod";
import { holdingsOf } from "../engine/state/object.ts";
import { kinds } from "../kinds/index.ts";
import { hasResource, type ResourceKind } from "../kinds/kind.ts";
import { catalogue, currencyOf, priceOf } from "./cost.ts";
import { readClusters } from "./landscape/clusters.ts";
import { pathsOf } from "./landscape/paths.ts";
import { collectionTitle, createReading, resourceIdentity, separateDependents } from "./landscape/resources.ts";
import { usersOf } from "./landscape/users.ts";
import { allObjects, type MooringObject } from "./objects.ts";
import type { PlatformReader } from "./reader.ts";
import type { Sources } from "./sources.ts";

const described = z.looseObject({
  properties: z.looseObject({ name: z.string().nullish(), bootServer: z.string().nullish() }).nullish(),
  metadata: z.looseObject({ createdDate: z.string().nullish(), createdBy: z.string().nullish() }).nullish(),
});

/**
 * Resources on the platform without an object, and objects whose resource is not on the platform. A resource that an
 * object needs is listed apart: its deletion would break the object. So is one that another cluster has created, which
 * may have an object there.
 */
export async function orphanReport(sources: Sources) {
  const platform = await sources.platform();
  const objects = [...(await allObjects(sources, undefined)).values()];
  const ours = (each: MooringObject) =>
    holdingsOf(each.object).filter(({ contract }) => contract === undefined || contract === platform.contractNumber);
  const held = new Set(objects.flatMap((each) => ours(each).map(resourceIdentity)));
  const { found, checked, notChecked } = await everything(platform, sources);

  // Prices are optional: not every user may read them.
  const prices = await catalogue(platform, sources.signal).catch((error: unknown) => {
    sources.signal.throwIfAborted();
    notChecked.push({ kind: "prices", why: error instanceof Error ? error.message : String(error) });
    return undefined;
  });

  const lost = (why: string) => void notChecked.push({ kind: "labels of clusters", why });
  const clusters = await readClusters(platform, objects, sources.signal, lost);

  const there = new Set(found.map(resourceIdentity));
  const users = usersOf(objects, found);
  // Dependent resources are not orphans: servers of scaling groups, boot volumes of servers.
  const alone = separateDependents(found)
    .own.map((resource) => ({ resource, ...described.parse(resource.raw) }))
    .filter(
      ({ resource, properties }) => !held.has(resourceIdentity(resource)) && !held.has(properties?.bootServer ?? ""),
    )
    .map(({ resource, properties, metadata }) => ({
      resource,
      used_by: users.get(resourceIdentity(resource)) ?? [],
      other: clusters.otherThanOwn(resource),
      facts: {
        kind: resource.kind.kind,
        id: resource.id,
        name: properties?.name ?? undefined,
        datacenter: resource.parents.datacenter,
        created: metadata?.createdDate ?? undefined,
        created_by: metadata?.createdBy ?? undefined,
        cluster: clusters.of(resource),
        ...(prices && { per_month: priceOf(prices, resource.kind.kind, properties).per_month }),
        take_over: `create an object of kind ${resource.kind.kind} with spec.externalId: ${resource.id}`,
      },
    }));
  return {
    without_object: alone
      .filter(({ used_by, other }) => used_by.length === 0 && other === undefined)
      .map(({ facts, resource: { kind, id, parents } }) => ({
        ...facts,
        delete: `DELETE ${kind.resource.place.collection(parents)}/${id} (${kind.resource.place.product})`,
      })),
    of_other_clusters: alone
      .filter(({ used_by, other }) => used_by.length === 0 && other !== undefined)
      .map(({ facts, other: cluster = "" }) => ({ ...facts, cluster })),
    own_cluster_known: clusters.isOwnKnown,
    in_use: alone.filter(({ used_by }) => used_by.length > 0).map(({ facts, used_by }) => ({ ...facts, used_by })),
    without_resource: objects
      .filter(({ kind }) => checked.has(kind.kind))
      .flatMap((each) =>
        ours(each)
          .filter((claim) => !there.has(resourceIdentity(claim)))
          .map(({ id }) => ({ object: each.key, id })),
      ),
    ...(prices && { currency: currencyOf(prices) }),
    checked: [...checked],
    not_checked: notChecked,
  };
}

/** Tokens are many and expire; a shared resource or a switch of the contract belongs to nobody. */
const isOwnable = ({ resource: { identity, place } }: ResourceKind): boolean =>
  !identity.permanent && !identity.shared && place.product !== "auth";

/** All resources of the contract. A kind of which a part could not be read is not checked. */
async function everything(platform: PlatformReader, { signal, progress }: Sources) {
  const reading = createReading(platform, signal);
  const notChecked: { kind: string; why: string }[] = [];
  const checked = new Set<string>();
  for (const kind of kinds.filter(hasResource).filter(isOwnable)) {
    for (const path of pathsOf(kind.resource.place)) {
      const lost = (why: string) => void notChecked.push({ kind: collectionTitle(kind, path), why });
      await reading.read(kind, path, () => true, lost);
      progress(reading.known.length, "resources read");
    }
    if (!reading.partial.has(kind)) checked.add(kind.kind);
  }
  if (checked.size === 0 && reading.known.length === 0) {
    throw new Error(`nothing of the contract could be read: ${notChecked[0]?.why ?? ""}`);
  }
  return { found: reading.known, checked, notChecked };
}
