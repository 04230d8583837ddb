import type { Call, Reply, Route } from "../../http/exchange.ts";
import { errorCode, invalid, missing, refusal } from "../../http/refusal.ts";
import { isAdministrator } from "../../identity/privileges.ts";
import { basePath, type Resource } from "../../store/resource.ts";
import type { World } from "../../world.ts";
import { asObject, objectIn } from "../kind/body.ts";
import { createResource } from "../provisioning/create.ts";
import { acceptDone, newWrite } from "../provisioning/provisioning.ts";
import { group } from "../users/group.ts";
import { share, shareableById } from "../users/share.ts";
import { user } from "../users/user.ts";
import { resolve, written } from "./table-routes.ts";

/** The writes to users and groups that do not follow the pattern of the table. All are done at once. */
export function managementRoutes(world: World): Route[] {
  const template = (path: string) => `${basePath}/um${path}`;
  return [
    {
      method: "POST",
      template: template("/groups/{groupId}/users"),
      access: "user",
      handle: (call) => join(world, call),
    },
    {
      method: "DELETE",
      template: template("/groups/{groupId}/users/{userId}"),
      access: "user",
      handle: (call) => leave(world, call),
    },
    {
      method: "POST",
      template: template("/groups/{groupId}/shares/{resourceId}"),
      access: "user",
      handle: (call) => addShare(world, call),
    },
    {
      method: "GET",
      template: template("/users/{userId}/s3ssourl"),
      access: "user",
      handle: (call) => ({
        status: 200,
        body: { ssoUrl: `${call.origin}/s3/sso?user=${resolve(world, call, [user]).resource.id}` },
      }),
    },
  ];
}

function join(world: World, call: Call): Reply {
  const { resource: joinedGroup } = resolve(world, call, [group]);
  const { id } = objectIn(call.body);
  if (typeof id !== "string") throw invalid("(root).id", "must name the user to add");
  const member = world.resources.byId("user", id);
  if (member === undefined) throw missing();
  setMembers(world, call, joinedGroup, [...joinedGroup.refs.filter((ref) => ref !== member.key), member.key]);
  return { status: 201, body: written(world, call, member.key) };
}

function leave(world: World, call: Call): Reply {
  const { resource: leftGroup } = resolve(world, call, [group]);
  const { resource: member } = resolve(world, call, [user]);
  if (!leftGroup.refs.includes(member.key)) throw missing();
  setMembers(
    world,
    call,
    leftGroup,
    leftGroup.refs.filter((ref) => ref !== member.key),
  );
  return { status: 200 };
}

function setMembers(world: World, call: Call, changed: Resource, refs: string[]): void {
  world.resources.put({ ...changed, refs, modifiedAt: call.at, modifiedBy: call.caller.user.id });
}

function addShare(world: World, call: Call): Reply {
  const { resource: parent } = resolve(world, call, [group]);
  const shared = shareableById(world, call.params.resourceId ?? "");
  if (shared === undefined) throw missing();
  const properties = asObject(objectIn(call.body).properties ?? {}, "(root).properties");
  const body = { properties: { ...properties, resourceId: shared.id } };
  const { key } = createResource(newWrite(world, call), share, body, { parent, path: "(root)" });
  return { status: 201, body: written(world, call, key) };
}

/**
 * Only the owner and administrators manage users and groups. Users may read themselves and manage their own S3 keys.
 * Writes are done at once and answer with a request that is DONE.
 */
export function withUserRights(world: World, route: Route): Route {
  const { method, template } = route;
  if (!template.startsWith(`${basePath}/um/`)) return route;
  const forOneself =
    template.startsWith(`${basePath}/um/users/{userId}`) && (method === "GET" || template.includes("/s3keys"));
  return {
    ...route,
    handle(call) {
      const { user } = call.caller;
      if (!isAdministrator(user) && !(forOneself && call.params.userId === user.id)) {
        throw refusal(
          403,
          errorCode.denied,
          "Access denied: only the owner and administrators manage users and groups",
        );
      }
      // Read before the call: after a deletion it is gone.
      const about = world.resources.get(call.path.slice(basePath.length + 1).replace(/\/$/, ""));
      const reply = route.handle(call);
      return method === "GET" ? reply : acceptDone(world, call, reply, about === undefined ? [] : [about]);
    },
  };
}
