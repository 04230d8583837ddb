import type { Call, Reply, Route } from "../../http/exchange.ts";
import { missing } from "../../http/refusal.ts";
import { basePath, hrefOf, type Resource } from "../../store/resource.ts";
import { isVisible } from "../../store/shown.ts";
import { groupsOf } from "../../users.ts";
import type { World } from "../../world.ts";
import { type Listed, listReply, oneReply } from "../kind/listing.ts";
import { listed, metadataOf, readerFor, render } from "../provisioning/reading.ts";
import { group } from "../users/group.ts";
import { shareable } from "../users/share.ts";
import { user } from "../users/user.ts";
import { resolve } from "./table-routes.ts";

/** Lists of user management: the groups of a user, and the resources that can be shared, are shared, or are owned. */
export function sharedResourceRoutes(world: World): Route[] {
  const get = (path: string, handle: Route["handle"]): Route => ({
    method: "GET",
    template: `${basePath}/um${path}`,
    access: "user",
    handle,
  });
  const everything = (call: Call) =>
    shareable.flatMap((type) => [...world.resources.ofType(type)]).filter((each) => isVisible(each, call.at));
  // Without public images, which belong to the platform. `public` of a cluster means that it has a public address.
  const ofContract = (call: Call) =>
    everything(call).filter(({ type, properties }) => type !== "image" || properties.public !== true);
  return [
    get("/users/{userId}/groups", (call) => {
      const { id } = resolve(world, call, [user]).resource;
      const reader = readerFor(world, call);
      const items = groupsOf(world.resources, id).map((each) => listed(reader, each));
      return listReply(call, listing(call, `um/users/${id}/groups`, items));
    }),
    get("/users/{userId}/owns", (call) => {
      const { id } = resolve(world, call, [user]).resource;
      const owned = ofContract(call).filter(({ createdBy }) => createdBy === id);
      return resources(world, call, `um/users/${id}/owns`, owned);
    }),
    get("/groups/{groupId}/resources", (call) => {
      const { key } = resolve(world, call, [group]).resource;
      const shares = [...world.resources.children(key, "shares")];
      const shared = shares.flatMap(({ refs }) => refs.flatMap((ref) => world.resources.get(ref) ?? []));
      const visible = shared.filter((each) => isVisible(each, call.at));
      return resources(world, call, `${key}/resources`, visible);
    }),
    get("/resources", (call) => resources(world, call, "um/resources", ofContract(call))),
    get("/resources/{resourceType}", (call) => {
      const { resourceType } = call.params;
      if (!shareable.some((type) => type === resourceType)) throw missing();
      const ofType = ofContract(call).filter(({ type }) => type === resourceType);
      return resources(world, call, `um/resources/${resourceType}`, ofType);
    }),
    get("/resources/{resourceType}/{resourceId}", (call) => {
      const { resourceType, resourceId } = call.params;
      const found = everything(call).find(({ type, id }) => type === resourceType && id === resourceId);
      return oneReply(call, found && asResource(world, call, found));
    }),
  ];
}

const listing = (call: Call, path: string, items: Listed[]) => ({
  id: path.split("/").slice(1).join("/"),
  href: hrefOf(call.origin, path),
  paged: false,
  items,
});

function resources(world: World, call: Call, path: string, found: Resource[]): Reply {
  const items = found.map((each) => asResource(world, call, each));
  return listReply(call, listing(call, path, items));
}

/** A resource as user management shows it: its name, and the groups it is shared with. */
function asResource(world: World, call: Call, resource: Resource): Listed {
  const { id, type } = resource;
  const path = `um/resources/${type}/${id}`;
  const reader = readerFor(world, call);
  const reference = { id, type, href: hrefOf(call.origin, path) };
  const { name, secAuthProtection = false } = resource.properties;
  const properties = { name, secAuthProtection };
  const groups = () =>
    world.resources.referrers(resource.key, "resource").flatMap(({ parent }) => world.resources.get(parent) ?? []);
  return {
    ...listed(reader, resource),
    reference: () => reference,
    properties: () => properties,
    full: (depth) => ({
      ...reference,
      metadata: metadataOf(reader, resource),
      properties,
      ...(depth > 0 && {
        entities: {
          groups: {
            id: `${id}/groups`,
            type: "collection",
            href: `${reference.href}/groups`,
            ...(depth > 1 && { items: groups().map((each) => render(reader, each, depth - 2)) }),
          },
        },
      }),
    }),
  };
}
