import type { Call } from "../../http/exchange.ts";
import { busy, missing } from "../../http/refusal.ts";
import { hrefOf, type Properties, type Resource } from "../../store/resource.ts";
import { isVisible, shownStamps } from "../../store/shown.ts";
import type { World } from "../../world.ts";
import { etagOf, type Listed } from "../kind/listing.ts";
import { type EntityCollection, entityCollections, kindOf, wireTypeOf } from "../table.ts";

/** The inputs of a read: the instant and the origin of the call, and the effects of faults. */
export interface Reader {
  world: World;
  origin: string;
  now: number;
  skew: number;
  hideYoungerThan: number;
}

export function readerFor(world: World, call: Call): Reader {
  const { skew, hideYoungerThan } = call.effects;
  return { world, origin: call.origin, now: call.at, skew, hideYoungerThan };
}

/** Follows keys from the top down; a parent that cannot be seen hides all below it. */
export function visible(reader: Reader, keys: readonly string[]): Resource[] {
  return keys.map((key) => {
    const resource = reader.world.resources.get(key);
    if (resource === undefined || !isVisible(resource, reader.now)) throw missing();
    return resource;
  });
}

/** Refuses a write to a path with a resource that is being changed. */
export function refuseBusy(resources: readonly Resource[]): void {
  for (const { type, id, state } of resources) {
    if (state === "BUSY") throw busy({ type: wireTypeOf(type), id });
  }
}

/** The fields of a resource that its metadata is made of. */
export type Stamped = Pick<
  Resource,
  "key" | "revision" | "createdAt" | "createdBy" | "modifiedAt" | "modifiedBy" | "state" | "shownState"
>;

const etags = new WeakMap<object, string>();

export function etagFor(resource: Pick<Resource, "key" | "revision">): string {
  const known = etags.get(resource);
  if (known !== undefined) return known;
  const etag = etagOf(`${resource.key}@${resource.revision}`);
  etags.set(resource, etag);
  return etag;
}

export function metadataOf(reader: Reader, resource: Stamped) {
  return {
    etag: etagFor(resource),
    ...shownStamps(reader.world, reader.skew, resource),
    ...(resource.state !== null && { state: resource.shownState ?? resource.state }),
  };
}

function propertiesOf(reader: Reader, resource: Resource): Properties {
  const kind = kindOf(resource.type);
  const shown = kind.view?.(reader.world, resource, reader.origin) ?? resource.properties;
  return kind.readsAs === undefined ? shown : { ...shown, ...kind.readsAs };
}

export function referenceTo(origin: string, { id, type, key }: Pick<Resource, "id" | "type" | "key">) {
  return { id, type: wireTypeOf(type), href: hrefOf(origin, key) };
}

/**
 * A resource with its metadata and properties and, by depth, what hangs below it: 1 adds the child collections as
 * references, 2 their items with properties, and so on in steps of two. At most one link is followed on the way down,
 * because a server and its security groups refer to each other.
 */
export function render(reader: Reader, resource: Resource, depth: number, overLink = false): object {
  const body: Record<string, unknown> = {
    ...referenceTo(reader.origin, resource),
    metadata: metadataOf(reader, resource),
    properties: propertiesOf(reader, resource),
  };
  if (depth === 0) return body;
  const entities: Record<string, unknown> = {};
  for (const child of entityCollections(resource.type)) {
    const collection: Record<string, unknown> = {
      id: `${resource.id}/${child.collection}`,
      type: "collection",
      href: hrefOf(reader.origin, `${resource.key}/${child.collection}`),
    };
    if (depth > 1 && !(overLink && child.linked)) {
      const below = members(reader, resource, child);
      collection.items = below.map((member) => render(reader, member, depth - 2, overLink || child.linked));
    }
    entities[child.collection] = collection;
  }
  if (Object.keys(entities).length > 0) body.entities = entities;
  return body;
}

/** The visible members of a collection: children, or those linked to the holder. */
export function members(reader: Reader, holder: Resource | null, collection: EntityCollection): Resource[] {
  return everyMember(reader.world, holder, collection).filter(
    (each) => isVisible(each, reader.now) && each.createdAt + reader.hideYoungerThan <= reader.now,
  );
}

function everyMember(
  { resources }: World,
  holder: Resource | null,
  { collection, type, linked, shared }: EntityCollection,
): Resource[] {
  const key = holder?.key ?? "";
  if (!linked) return [...resources.children(key, collection)];
  if (!shared) return resources.referrers(key, type);
  return (holder?.refs ?? []).flatMap((ref) => resources.get(ref) ?? []).filter((each) => each.type === type);
}

export function listed(reader: Reader, resource: Resource): Listed {
  return {
    createdAt: resource.createdAt,
    etag: etagFor(resource),
    reference: () => referenceTo(reader.origin, resource),
    metadata: () => metadataOf(reader, resource),
    properties: () => propertiesOf(reader, resource),
    full: (depth) => render(reader, resource, depth),
  };
}
