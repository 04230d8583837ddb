import { errorCode, invalid, Refusal } from "../../http/refusal.ts";
import { requirePrivilege } from "../../identity/privileges.ts";
import type { Properties, Resource } from "../../store/resource.ts";
import { asObject, type Given, givenProperties, inlineChildren } from "../kind/body.ts";
import type { Draft, InlineChildren, Kind } from "../kind/kind.ts";
import { childKinds, kindOf } from "../table.ts";
import { attach } from "./attach.ts";
import { drawDuration, removeLater, type Write } from "./provisioning.ts";

export interface Place {
  parent: Resource | null;
  /** The resource that the new one is linked to from the start, or made from. */
  holder?: Resource;
  /** The path of this body in the whole body. */
  path: string;
}

/** Creates a resource and all that its body inlines, BUSY and not visible yet. */
export function createResource(write: Write, kind: Kind, body: Properties, place: Place): Resource {
  const { world } = write;
  const { parent, path } = place;
  if (kind.privilege !== undefined) requirePrivilege(world, write.call, kind.privilege);
  const given = givenProperties(kind, body.properties, path, "create");
  const inline = inlineChildren(body, path);
  const id = kind.newId?.(world, parent, given.values) ?? world.chance.uuid(kind.type);
  const key = keyOf(kind, parent, id);
  if (world.resources.get(key) !== undefined) {
    throw invalid(`${path}.properties`, `a ${kind.type} with the id ${id} exists already`);
  }
  const draft = shaped(write, kind, {
    given,
    inline,
    key,
    path,
    write: "create",
    previous: null,
    start: kind.defaults ?? {},
    parent,
    holder: place.holder ?? null,
  });
  const resource = store(write, kind, { id, key, parent }, draft.next, draft.refs);
  createInline(write, kind, resource, inline, path);
  const complete = world.resources.get(key) ?? resource;
  kind.assembled?.(world, complete, path);
  return complete;
}

const keyOf = (kind: Kind, parent: Pick<Resource, "key"> | null, id: string) =>
  `${parent === null ? "" : `${parent.key}/`}${kind.collection}/${id}`;

/** Runs the kind's own rules over a write and gives the completed draft; refuses with all errors at once. */
export function shaped(
  write: Write,
  kind: Kind,
  base: Pick<Draft, "key" | "path" | "write" | "previous" | "parent" | "holder" | "inline"> & {
    given: Given;
    start: Properties;
  },
): Draft {
  const faults: { errorCode: string; message: string }[] = [];
  const next: Record<string, unknown> = { ...base.start };
  for (const name of base.given.cleared) next[name] = kind.defaults?.[name] ?? null;
  Object.assign(next, base.given.values);
  for (const name of kind.writeOnly ?? []) delete next[name];
  const draft: Draft = {
    ...base,
    world: write.world,
    given: base.given.values,
    next,
    refs: [...(base.previous?.refs ?? [])],
    createRelated(type, parent, id, properties) {
      const sideKind = kindOf(type);
      const key = keyOf(sideKind, parent, id);
      return store(write, sideKind, { id, key, parent }, { ...sideKind.defaults, ...properties }, [], true);
    },
    removeRelated: (resource) => removeLater(write, kindOf(resource.type), resource),
    fault(property, message) {
      faults.push({ errorCode: errorCode.validation, message: `[${base.path}.properties.${property}] ${message}` });
    },
  };
  kind.shape?.(draft);
  if (faults.length > 0) throw new Refusal(422, faults);
  return draft;
}

/** Stores a new resource. `isRelated`: when the request fails, it stays if something refers to it by then. */
function store(
  write: Write,
  kind: Kind,
  { id, key, parent }: { id: string; key: string; parent: Pick<Resource, "key"> | null },
  properties: Properties,
  refs: readonly string[],
  isRelated = false,
): Resource {
  const { world, call } = write;
  const now = call.at;
  const userId = call.caller.user.id;
  const resource: Resource = {
    key,
    id,
    type: kind.type,
    collection: kind.collection,
    parent: parent?.key ?? "",
    refs,
    state: kind.spans === undefined ? null : "BUSY",
    shownState: kind.states?.create,
    properties,
    revision: 0,
    createdAt: now,
    createdBy: userId,
    modifiedAt: now,
    modifiedBy: userId,
    visibleAt: kind.spans === undefined || kind.visibleAtOnce ? now + call.effects.invisibleFor : write.visibleAt,
  };
  world.resources.put(resource);
  if (kind.spans !== undefined) {
    drawDuration(write, `create/${kind.type}`, kind.spans.create);
    write.targets.push(resource);
    write.onDone.push({ op: "settle", key, ...(kind.settled && { merge: kind.settled }) });
    if (isRelated) write.onFailed.push({ op: "remove-unused", key });
    else write.onFailed.unshift({ op: "remove", key });
  }
  return resource;
}

function createInline(write: Write, kind: Kind, resource: Resource, inline: InlineChildren, path: string): void {
  const { world } = write;
  for (const [collection, items] of Object.entries(inline)) {
    const link = kind.links?.find((each) => each.collection === collection);
    const childKind = link ? kindOf(link.type) : childKinds(kind.type).find((each) => each.collection === collection);
    if (childKind === undefined) throw invalid(`${path}.entities.${collection}`, `a ${kind.type} has no ${collection}`);
    for (const [index, item] of items.entries()) {
      const where = `${path}.entities.${collection}.items[${index}]`;
      const body = asObject(item, where);
      if (link === undefined) {
        createResource(write, childKind, body, { parent: resource, path: where });
      } else if (typeof body.id === "string" && body.properties === undefined) {
        attach(write, link, world.resources.get(resource.key) ?? resource, body.id);
      } else if (link.creates) {
        const parent = world.resources.get(resource.parent) ?? null;
        createResource(write, childKind, body, { parent, holder: resource, path: where });
      } else {
        throw invalid(where, "needs the id of an existing resource");
      }
    }
  }
}
