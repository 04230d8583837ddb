import { Refusal } from "../http/refusal.ts";
import type { RequestRecord } from "../records/requests.ts";
import type { Action, Group } from "../records/scaling/records.ts";
import type { World } from "../world.ts";
import { makeReplica, removeReplica } from "./replicas.ts";

const keptActions = 100;

/** A group has one action at a time: the last one, as long as it runs. */
export function runningAction(world: World, groupId: string): Action | undefined {
  const last = world.scaling.actionsOf(groupId).at(-1);
  return last?.status === "IN_PROGRESS" ? last : undefined;
}

export const datacenterOf = (world: World, { properties }: Group) =>
  world.resources.get(`datacenters/${properties.datacenter.id}`);

/** Starts an action that creates or deletes replicas. Inside a transaction. */
export function beginAction(
  world: World,
  group: Group,
  { toMake = 0, toRemove = [] }: { toMake?: number; toRemove?: string[] },
  at: number,
): void {
  const { actions, actionsOf } = world.scaling;
  for (const { id } of actionsOf(group.id).slice(0, -(keptActions - 1))) actions.delete(id);
  const action: Action = {
    id: world.chance.uuid("scaling-action"),
    groupId: group.id,
    type: toMake > 0 ? "SCALE_OUT" : "SCALE_IN",
    status: "IN_PROGRESS",
    failure: null,
    createdAt: at,
    modifiedAt: at,
    toMake,
    toRemove,
    requests: [],
  };
  actions.put(action.id, action);
}

/**
 * Asks the core API for the next server that the group's action makes or deletes, in a transaction of its own, so that
 * a refusal undoes this one only. Undefined: nothing is left to ask for, or a resource is BUSY.
 */
export function takeStep(world: World, groupId: string, at: number): RequestRecord | undefined {
  const group = world.scaling.groups.get(groupId);
  const action = runningAction(world, groupId);
  if (group === undefined || action === undefined) return undefined;
  return action.type === "SCALE_OUT" ? makeOne(world, group, action, at) : removeOne(world, group, action, at);
}

function makeOne(world: World, group: Group, action: Action, at: number): RequestRecord | undefined {
  const datacenter = datacenterOf(world, group);
  if (action.toMake === 0 || datacenter?.state !== "AVAILABLE") return undefined;
  const { actions } = world.scaling;
  try {
    return world.documents.transaction(() => {
      const request = makeReplica(world, group, datacenter, at);
      const requests = [...action.requests, request.id];
      actions.put(action.id, { ...action, toMake: action.toMake - 1, requests });
      return request;
    });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const failure = error.message;
    world.documents.transaction(() => actions.put(action.id, { ...action, toMake: 0, failure }));
    return undefined;
  }
}

function removeOne(world: World, group: Group, action: Action, at: number): RequestRecord | undefined {
  if (datacenterOf(world, group)?.state !== "AVAILABLE") return undefined;
  const { actions, replicas } = world.scaling;
  for (const id of action.toRemove) {
    const replica = replicas.get(id);
    const machine = replica && world.resources.get(replica.server);
    if (replica === undefined || machine?.state !== "AVAILABLE") continue;
    return world.documents.transaction(() => {
      const request = removeReplica(world, group, replica, machine, at);
      const toRemove = action.toRemove.filter((each) => each !== id);
      actions.put(action.id, { ...action, toRemove, requests: [...action.requests, request.id] });
      return request;
    });
  }
  return undefined;
}

/** Ends the group's action if all its requests have ended. Returns whether it did. Inside a transaction. */
export function endAction(world: World, group: Group, at: number): boolean {
  const { actions, groups, replicas, replicasOf } = world.scaling;
  const action = runningAction(world, group.id);
  if (action === undefined || action.toMake > 0 || action.toRemove.some((id) => replicas.get(id) !== undefined)) {
    return false;
  }
  const requests = action.requests.flatMap((id) => world.requests.get(id) ?? []);
  if (requests.some(({ status }) => status === "BUSY")) return false;
  const failed = action.type === "SCALE_OUT" ? requests.find(({ status }) => status === "FAILED") : undefined;
  const failure = action.failure ?? failed?.message ?? null;
  actions.put(action.id, { ...action, status: failure === null ? "SUCCESSFUL" : "FAILED", failure, modifiedAt: at });
  // After a failure the target is the number of replicas that exist, within the bounds of the group.
  const target = failure === null ? group.target : withinBounds(group, replicasOf(group.id).length);
  groups.put(group.id, { ...group, target, revision: group.revision + 1 });
  return true;
}

/** The number of replicas nearest to `count` that the group may have. */
export function withinBounds({ properties }: Pick<Group, "properties">, count: number): number {
  return Math.min(properties.maxReplicaCount, Math.max(properties.minReplicaCount, count));
}
