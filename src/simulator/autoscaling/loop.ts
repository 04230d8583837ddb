import { millisecondsOf } from "../records/scaling/duration.ts";
import { loadKey } from "../records/scaling/load-record.ts";
import type { Group, Replica } from "../records/scaling/records.ts";
import type { World } from "../world.ts";
import { beginAction, datacenterOf, endAction, runningAction, takeStep, withinBounds } from "./actions.ts";
import { countsWith, policyMetric } from "./load.ts";
import { join, leave } from "./target-groups.ts";
import { basePath } from "./view.ts";

/** The interval between two reviews of a group, in simulated milliseconds. */
const reviewInterval = 30_000;
/** After a jump of the clock only the reviews of its last day are made. */
const longestCatchUp = 86_400_000;

/** Schedules the next review of a group, and so on until it is deleted. */
export function scheduleReview(world: World, { id, createdAt }: Group, since: number): void {
  const from = Math.max(since, world.clock.now() - longestCatchUp);
  const next = createdAt + (Math.floor((from - createdAt) / reviewInterval) + 1) * reviewInterval;
  world.agenda.schedule(next, (at) => {
    world.documents.transaction(() => review(world, id, at));
    continueAction(world, id, at);
    const group = world.scaling.groups.get(id);
    if (group !== undefined) scheduleReview(world, group, at);
  });
}

/** Resumes every group after a restart. */
export function resumeScaling(world: World): void {
  const now = world.clock.now();
  for (const group of world.scaling.groups.values()) {
    scheduleReview(world, group, now);
    continueAt(world, group.id, now);
    for (const id of runningAction(world, group.id)?.requests ?? []) {
      const request = world.requests.get(id);
      if (request?.status === "BUSY") continueAt(world, group.id, request.dueAt);
    }
  }
}

function continueAt(world: World, groupId: string, at: number): void {
  world.agenda.schedule(at, (due) => continueAction(world, groupId, due));
}

/** Runs a group's action as far as possible now. It continues when its requests end. */
function continueAction(world: World, groupId: string, at: number): void {
  for (let request = takeStep(world, groupId, at); request; request = takeStep(world, groupId, at)) {
    continueAt(world, groupId, request.dueAt);
  }
  world.documents.transaction(() => {
    const group = updateReplicas(world, groupId, at);
    if (group !== undefined && endAction(world, group, at)) scaleToTarget(world, groupId, at);
  });
}

function review(world: World, groupId: string, at: number): void {
  const group = updateReplicas(world, groupId, at);
  if (group === undefined) return;
  if (datacenterOf(world, group) === undefined) {
    removeGroup(world, group);
    return;
  }
  scaleToTarget(world, groupId, at);
  evaluate(world, groupId, at);
}

/** Updates the replicas whose servers have started, and removes those whose servers a user deleted. */
function updateReplicas(world: World, groupId: string, at: number): Group | undefined {
  const { groups, replicas, replicasOf } = world.scaling;
  const group = groups.get(groupId);
  if (group === undefined) return undefined;
  for (const replica of replicasOf(groupId)) {
    const machine = world.resources.get(replica.server);
    if (machine === undefined) {
      leave(world, replica);
      replicas.delete(replica.id);
    } else if (!replica.up && machine.state === "AVAILABLE") {
      replicas.put(replica.id, { ...replica, up: true, memberships: join(world, replica) });
    }
  }
  const counts = countsWith(group, at, replicasOf(groupId).filter(({ up }) => up).length);
  if (counts === group.counts) return group;
  const next = { ...group, counts };
  groups.put(groupId, next);
  return next;
}

/**
 * Starts the action that brings a group to its target, or to no replicas when it is being deleted. Does nothing while
 * an action runs. After a failure it tries again when the cooldown is over, unless `ignoreCooldown`. Inside a
 * transaction.
 */
export function scaleToTarget(world: World, groupId: string, at: number, ignoreCooldown = false): void {
  const { groups, actionsOf, replicasOf } = world.scaling;
  const group = groups.get(groupId);
  if (group === undefined || runningAction(world, groupId) !== undefined) return;
  const replicas = replicasOf(groupId);
  if (group.deleting && replicas.length === 0) {
    removeGroup(world, group);
    return;
  }
  const surplus = replicas.length - (group.deleting ? 0 : group.target);
  const failed = actionsOf(groupId).at(-1)?.status === "FAILED";
  if (surplus === 0 || (surplus < 0 && failed && !ignoreCooldown && at < cooldownEnd(world, group))) return;
  const part =
    surplus > 0 ? { toRemove: removable(world, group, replicas, surplus).map(({ id }) => id) } : { toMake: -surplus };
  groups.put(groupId, { ...group, revision: group.revision + 1 });
  beginAction(world, group, part, at);
  continueAt(world, groupId, at);
}

/** Compares the metric with the thresholds and changes the target. Inside a transaction. */
function evaluate(world: World, groupId: string, at: number): void {
  const group = world.scaling.groups.get(groupId);
  if (group === undefined || runningAction(world, groupId) !== undefined || at < cooldownEnd(world, group)) return;
  const { scaleInThreshold, scaleInAction, scaleOutThreshold, scaleOutAction } = group.properties.policy;
  const metric = policyMetric(world, group, at);
  let target = group.target;
  if (metric > scaleOutThreshold) target = withinBounds(group, target + amountOf(scaleOutAction, target));
  else if (metric < scaleInThreshold) target = withinBounds(group, target - amountOf(scaleInAction, target));
  if (target === group.target) return;
  world.scaling.groups.put(groupId, { ...group, target });
  scaleToTarget(world, groupId, at);
}

function amountOf({ amount, amountType }: { amount: number; amountType: string }, count: number): number {
  return Math.max(1, Math.floor(amountType === "PERCENTAGE" ? (count * amount) / 100 : amount));
}

/** The cooldown counts from the start of the last action. */
function cooldownEnd(world: World, { id, properties: { policy } }: Group): number {
  const last = world.scaling.actionsOf(id).at(-1);
  if (last === undefined) return 0;
  const { cooldownPeriod } = last.type === "SCALE_OUT" ? policy.scaleOutAction : policy.scaleInAction;
  return last.createdAt + millisecondsOf(cooldownPeriod);
}

/** The replicas that a scale-in deletes; `replicas` has the oldest first. */
function removable(world: World, { properties: { policy } }: Group, replicas: Replica[], amount: number): Replica[] {
  switch (policy.scaleInAction.terminationPolicy) {
    case "OLDEST_SERVER_FIRST":
      return replicas.slice(0, amount);
    case "NEWEST_SERVER_FIRST":
      return replicas.slice(-amount);
    case "RANDOM": {
      const left = [...replicas];
      const draw = () => left.splice(Math.floor(world.chance.between("termination", 0, left.length)), 1);
      return Array.from({ length: amount }, draw).flat();
    }
  }
}

/** Removes a group whose replicas, or their datacenter, are deleted. */
function removeGroup(world: World, group: Group): void {
  const { groups, actions, actionsOf, replicas, replicasOf, loads } = world.scaling;
  for (const replica of replicasOf(group.id)) {
    leave(world, replica);
    replicas.delete(replica.id);
  }
  for (const { id } of actionsOf(group.id)) actions.delete(id);
  for (const load of [...loads.values()]) if (load.groupId === group.id) loads.delete(loadKey(load));
  groups.delete(group.id);
  if (!group.deleting) return;
  const { id, modifiedBy: by } = group;
  world.activity.settled({ method: "DELETE", collection: `${basePath}/groups`, type: "group", id, by, failure: null });
}
