import { type Call, type Method, methods, type Reply, type Route } from "../../http/exchange.ts";
import { invalid, missing } from "../../http/refusal.ts";
import { withinQuota } from "../../records/limits.ts";
import { basePath, hrefOf, type Resource } from "../../store/resource.ts";
import type { World } from "../../world.ts";
import { idsIn, inlineChildren, objectIn } from "../kind/body.ts";
import type { Kind, Link } from "../kind/kind.ts";
import { depthOf, listReply } from "../kind/listing.ts";
import { attach, detach, replaceMembers } from "../provisioning/attach.ts";
import { deleteResource, updateResource } from "../provisioning/change.ts";
import { createResource } from "../provisioning/create.ts";
import { accept, newWrite } from "../provisioning/provisioning.ts";
import { etagFor, listed, members, readerFor, refuseBusy, render, visible } from "../provisioning/reading.ts";
import { childKinds, type EntityCollection, kindOf, kinds } from "../table.ts";

/** The kinds from the top down to the one a path is about. */
type Chain = readonly Kind[];

/** All routes that follow from the table: five verbs for every kind below every parent, and its links. */
export function tableRoutes(world: World): Route[] {
  return kinds
    .filter((kind) => kind.parents.includes("") && kind.routed !== false)
    .flatMap((kind) => routesBelow(world, basePath, [], kind));
}

function routesBelow(world: World, prefix: string, above: Chain, kind: Kind): Route[] {
  const chain = [...above, kind];
  const collection = `${prefix}/${kind.collection}`;
  const item = `${collection}/{${kind.param}}`;
  return [
    ...verbs(kind.verbs.collection, collection, {
      GET: (call) => list(world, call, above, kind),
      POST: (call) => create(world, call, above, kind),
    }),
    ...verbs(kind.verbs.item, item, {
      GET: (call) => read(world, call, chain),
      PUT: (call) => update(world, call, chain, "put"),
      PATCH: (call) => update(world, call, chain, "patch"),
      DELETE: (call) => remove(world, call, chain),
    }),
    ...(kind.links ?? []).flatMap((link) => linkRoutes(world, item, chain, link)),
    ...childKinds(kind.type).flatMap((child) => routesBelow(world, item, chain, child)),
  ];
}

const letters: Record<Method, string> = { GET: "G", POST: "P", PUT: "U", PATCH: "A", DELETE: "D" };

function verbs(allowed: string, template: string, handlers: Partial<Record<Method, Route["handle"]>>): Route[] {
  return methods.flatMap((method) => {
    const handle = handlers[method];
    if (handle === undefined || !allowed.includes(letters[method])) return [];
    return [{ method, template, access: "user" as const, handle }];
  });
}

/** The resources a path names, from the top down, all visible. */
function resolvePath(world: World, call: Call, chain: Chain): Resource[] {
  const keys: string[] = [];
  for (const kind of chain) {
    const above = keys.at(-1);
    keys.push(`${above === undefined ? "" : `${above}/`}${kind.collection}/${call.params[kind.param] ?? ""}`);
  }
  return visible(readerFor(world, call), keys);
}

/** Like `resolvePath`, for a path that names at least one resource; gives the last one too. */
export function resolve(world: World, call: Call, chain: Chain): { path: Resource[]; resource: Resource } {
  const path = resolvePath(world, call, chain);
  const resource = path.at(-1);
  if (resource === undefined) throw missing();
  return { path, resource };
}

function list(world: World, call: Call, above: Chain, kind: Kind): Reply {
  return listMembers(world, call, resolvePath(world, call, above).at(-1) ?? null, { ...kind, linked: false });
}

function listMembers(
  world: World,
  call: Call,
  holder: Resource | null,
  collection: EntityCollection & { paged: boolean },
): Reply {
  const reader = readerFor(world, call);
  const path = holder === null ? collection.collection : `${holder.key}/${collection.collection}`;
  return listReply(call, {
    id: holder === null ? collection.collection : `${holder.id}/${collection.collection}`,
    href: hrefOf(call.origin, path),
    paged: collection.paged,
    items: members(reader, holder, collection).map((member) => listed(reader, member)),
  });
}

function itemReply(world: World, call: Call, resource: Resource): Reply {
  return {
    status: 200,
    headers: call.query.has("depth") ? {} : { ETag: etagFor(resource) },
    body: render(readerFor(world, call), resource, depthOf(call)),
  };
}

function read(world: World, call: Call, chain: Chain): Reply {
  return itemReply(world, call, resolve(world, call, chain).resource);
}

/** The body of the answer to a write. It shows the resource even while reads do not show it yet. */
export function written(world: World, call: Call, key: string, depth = depthOf(call)): object | undefined {
  const resource = world.resources.get(key);
  const reader = { ...readerFor(world, call), now: Number.POSITIVE_INFINITY, hideYoungerThan: 0 };
  return resource && render(reader, resource, depth);
}

function create(world: World, call: Call, above: Chain, kind: Kind): Reply {
  const parents = resolvePath(world, call, above);
  refuseBusy(parents);
  const body = kind.bodyOptional && call.body.trim() === "" ? {} : objectIn(call.body);
  const write = newWrite(world, call);
  const place = { parent: parents.at(-1) ?? null, path: "(root)" };
  const resource = withinQuota(world, () => createResource(write, kind, body, place));
  // A composite creation is answered with the ids of everything it made.
  const inlined = Object.keys(inlineChildren(body, "(root)")).length > 0;
  const answer = written(world, call, resource.key, inlined ? Math.max(4, depthOf(call)) : depthOf(call));
  return kind.spans === undefined ? { status: 201, body: answer } : accept(write, resource, answer);
}

function update(world: World, call: Call, chain: Chain, mode: "put" | "patch"): Reply {
  const { path, resource } = resolve(world, call, chain);
  refuseBusy(path);
  const kind = kindOf(resource.type);
  const write = newWrite(world, call);
  withinQuota(world, () => updateResource(write, kind, resource, objectIn(call.body), mode));
  const answer = written(world, call, resource.key);
  return kind.spans === undefined ? { status: 200, body: answer } : accept(write, resource, answer);
}

function remove(world: World, call: Call, chain: Chain): Reply {
  const { path, resource } = resolve(world, call, chain);
  refuseBusy(path);
  const kind = kindOf(resource.type);
  const write = newWrite(world, call);
  deleteResource(write, kind, resource);
  return kind.spans === undefined ? { status: 200 } : accept(write, resource);
}

function linkRoutes(world: World, prefix: string, chain: Chain, link: Link): Route[] {
  const kind = kindOf(link.type);
  const collection = { ...link, linked: true, paged: link.paged ?? kind.paged };

  const holderAndMember = (call: Call): { path: Resource[]; holder: Resource; member: Resource } => {
    const { path, resource: holder } = resolve(world, call, chain);
    const member = world.resources.byId(link.type, call.params[link.param] ?? "");
    const linked = link.shared ? member && holder.refs.includes(member.key) : member?.refs.includes(holder.key);
    if (member === undefined || !linked) throw missing();
    visible(readerFor(world, call), [member.key]);
    return { path, holder, member };
  };

  const post = (call: Call): Reply => {
    const { path, resource: holder } = resolve(world, call, chain);
    refuseBusy(path);
    const body = objectIn(call.body);
    const write = newWrite(world, call);
    if (link.creates && body.id === undefined && body.properties !== undefined) {
      const place = { parent: path.at(-2) ?? null, holder, path: "(root)" };
      const created = withinQuota(world, () => createResource(write, kind, body, place));
      return accept(write, created, written(world, call, created.key));
    }
    if (typeof body.id !== "string") throw invalid("(root).id", `must name the ${link.type} to attach`);
    const member = attach(write, link, holder, body.id);
    return accept(write, link.shared ? holder : member, written(world, call, member.key));
  };

  const put = (call: Call): Reply => {
    const { path, resource: holder } = resolve(world, call, chain);
    refuseBusy(path);
    const write = newWrite(world, call);
    replaceMembers(write, link, holder, idsIn(call.body));
    const next = world.resources.get(holder.key) ?? holder;
    return accept(write, holder, listMembers(world, call, next, collection).body);
  };

  return [
    ...verbs(link.verbs.collection, `${prefix}/${link.collection}`, {
      GET: (call) => listMembers(world, call, resolve(world, call, chain).resource, collection),
      POST: post,
      PUT: put,
    }),
    ...verbs(link.verbs.item, `${prefix}/${link.collection}/{${link.param}}`, {
      GET: (call) => itemReply(world, call, holderAndMember(call).member),
      DELETE(call) {
        const { path, holder, member } = holderAndMember(call);
        refuseBusy([...path, member]);
        const write = newWrite(world, call);
        detach(write, link, holder, member);
        return accept(write, link.shared ? holder : member);
      },
    }),
  ];
}
