import { depthOf, type Listed, listReply } from "../core/kind/listing.ts";
import { type Reader, readerFor, refuseBusy } from "../core/provisioning/reading.ts";
import type { Call, Method, Reply, Route } from "../http/exchange.ts";
import { invalid, missing, refused } from "../http/refusal.ts";
import type { Group } from "../records/scaling/records.ts";
import { isListed, isVisible } from "../store/shown.ts";
import type { World } from "../world.ts";
import { datacenterOf, runningAction, withinBounds } from "./actions.ts";
import { givenProperties } from "./body.ts";
import { scaleToTarget, scheduleReview } from "./loop.ts";
import { basePath, hrefOf, listedActions, listedGroup, listedReplicas, type Part } from "./view.ts";

const publicBase = "/autoscaling";

/** VM auto scaling, below the base of the early access version; the public interface has it without the version, too. */
export function autoscalingRoutes(world: World): Route[] {
  const groups = "/groups";
  const group = `${groups}/{groupId}`;
  const handlers: [Method, string, Route["handle"]][] = [
    ["GET", groups, (call) => list(call, "groups", visibleGroups(world, call))],
    ["POST", groups, (call) => create(world, call)],
    ["GET", group, (call) => one(call, listedGroup(readerFor(world, call), found(world, call)))],
    ["PUT", group, (call) => update(world, call)],
    ["DELETE", group, (call) => remove(world, call)],
    ...partHandlers(world, "actions", "actionId", listedActions),
    ...partHandlers(world, "servers", "serverId", listedReplicas),
  ];
  const { forms } = world;
  return [basePath, ...(forms.public ? [publicBase] : [])].flatMap((base) =>
    handlers.map(([method, path, handle]) => ({ method, template: `${base}${path}`, access: "user" as const, handle })),
  );
}

/** Reads of what belongs to a group. */
function partHandlers(
  world: World,
  collection: string,
  param: string,
  listed: (reader: Reader, group: Group) => Part[],
): [Method, string, Route["handle"]][] {
  const parts = (call: Call) => listed(readerFor(world, call), found(world, call));
  const path = `/groups/{groupId}/${collection}`;
  return [
    ["GET", path, (call) => list(call, `groups/${call.params.groupId}/${collection}`, parts(call))],
    [
      "GET",
      `${path}/{${param}}`,
      (call) => {
        const item = parts(call).find(({ id }) => id === call.params[param]);
        if (item === undefined) throw missing();
        return one(call, item);
      },
    ],
  ];
}

function visibleGroups(world: World, call: Call): Listed[] {
  const reader = readerFor(world, call);
  return [...world.scaling.groups.values()]
    .filter((group) => isListed(group, call))
    .map((group) => listedGroup(reader, group));
}

const list = (call: Call, path: string, items: Listed[]): Reply =>
  listReply(call, { id: path.replace(/^groups\//, ""), href: hrefOf(call.origin, path), paged: false, items });

const one = (call: Call, item: Listed): Reply => ({
  status: 200,
  headers: call.query.has("depth") ? {} : { ETag: item.etag },
  body: item.full(depthOf(call)),
});

function found(world: World, call: Call): Group {
  const group = world.scaling.groups.get(call.params.groupId ?? "");
  if (group === undefined || !isVisible(group, call.at)) throw missing();
  return group;
}

function create(world: World, call: Call): Reply {
  const properties = givenProperties(world, call, "create");
  const { id: userId } = call.caller.user;
  const group: Group = {
    id: world.chance.uuid("autoscaling-group"),
    properties,
    origin: call.origin,
    target: properties.targetReplicaCount ?? properties.minReplicaCount,
    counts: [],
    deleting: false,
    revision: 0,
    createdAt: call.at,
    createdBy: userId,
    modifiedAt: call.at,
    modifiedBy: userId,
    visibleAt: call.at + call.effects.invisibleFor,
  };
  const datacenter = datacenterOf(world, group);
  if (datacenter !== undefined) refuseBusy([datacenter]);
  world.scaling.groups.put(group.id, group);
  scaleToTarget(world, group.id, call.at);
  scheduleReview(world, group, call.at);
  const startedActions = listedActions(readerFor(world, call), group).map((action) => action.reference());
  return { status: 201, body: { ...written(world, call, group.id, 1), startedActions } };
}

function update(world: World, call: Call): Reply {
  const group = found(world, call);
  if (group.deleting) throw refused(`The group ${group.id} is being deleted`);
  const properties = givenProperties(world, call, "put");
  if (properties.datacenter.id !== group.properties.datacenter.id) {
    throw invalid("(root).properties.datacenter.id", "can be set at creation only and cannot be changed");
  }
  world.scaling.groups.put(group.id, {
    ...group,
    properties,
    target: withinBounds({ properties }, properties.targetReplicaCount ?? group.target),
    origin: call.origin,
    revision: group.revision + 1,
    modifiedAt: call.at,
    modifiedBy: call.caller.user.id,
  });
  scaleToTarget(world, group.id, call.at, true);
  return { status: 200, body: written(world, call, group.id, 0) };
}

/** Reads show the group, BUSY, until its replicas are deleted, unless a fault hides it. */
function remove(world: World, call: Call): Reply {
  const { groups, actions } = world.scaling;
  const group = found(world, call);
  const hidden = call.effects.hideWhileDeleting;
  groups.put(group.id, {
    ...group,
    deleting: true,
    hidden,
    revision: group.revision + 1,
    modifiedAt: call.at,
    modifiedBy: call.caller.user.id,
  });
  const running = runningAction(world, group.id);
  if (running !== undefined) actions.put(running.id, { ...running, toMake: 0 });
  scaleToTarget(world, group.id, call.at);
  return { status: 204 };
}

function written(world: World, call: Call, groupId: string, depth: number): object {
  const group = world.scaling.groups.get(groupId);
  if (group === undefined) throw missing();
  return listedGroup(readerFor(world, call), group).full(Math.max(depth, depthOf(call)));
}
