import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../kube/resource.ts";
import {
  type ReadyState as AnyReadyState,
  type Condition,
  conditionsOf,
  withCondition,
} from "../../kube/write/conditions.ts";
import { memo } from "../../runtime/memo.ts";
import { isSaidAgain, needsPerson, type Obstacle, type Reason } from "./reasons.ts";
import { flat, groupOf, known, nested, type ResourceStatus, sharedStatus } from "./schema.ts";
import { GROUPS, type Group, trust } from "./trust.ts";

export type ReadyState = AnyReadyState & { reason: Reason };

/** The Ready condition for an obstacle. */
export const conditionFor = ({ reason, message }: Obstacle): ReadyState => ({
  mode: needsPerson(reason) ? "stalled" : "reconciling",
  reason,
  message,
});

function statusOf({ status }: KubeObject): object {
  return typeof status === "object" && status !== null ? status : {};
}

/** The fields of an object's status that count: those in groups with a valid signature. */
const counted = memo((object: KubeObject): Record<string, unknown> => {
  const verdict = trust.get(object);
  const status = flat(Object(verdict?.instead ?? statusOf(object)));
  if (!verdict || GROUPS.every((group) => verdict[group] === "ours")) return status;
  const counts = (group: Group | undefined) => group === undefined || verdict[group] === "ours";
  return Object.fromEntries(Object.entries(status).filter(([name]) => counts(groupOf(name))));
});

/** The engine's part of an object's status; an invalid field counts as absent. */
export const readStatus: (object: KubeObject) => ResourceStatus = memo(parse);

function parse(object: KubeObject): ResourceStatus {
  const status = counted(object);
  const whole = known.safeParse(status);
  if (whole.success) return whole.data;
  const valid = Object.entries(known.shape).filter(
    ([name, schema]) => schema.safeParse(Reflect.get(status, name)).success,
  );
  return known.partial().parse(Object.fromEntries(valid.map(([name]) => [name, Reflect.get(status, name)])));
}

/** All of an object's status that counts, as it is stored. */
export const readWhole = (object: KubeObject): Record<string, unknown> => ({ ...nested(counted(object)) });

/** The kind's part of an object's status. */
export function readFacts(object: KubeObject): Record<string, unknown> {
  return Object.fromEntries(Object.entries(counted(object)).filter(([name]) => groupOf(name) === "facts"));
}

/** The fields of the present resource: without one, and during a creation, status still has those of the one before. */
export function factsOf(object: KubeObject): Record<string, unknown> {
  const { id, left, request } = readStatus(object);
  const isGone = id === undefined && left !== undefined;
  return isGone || request?.action === "create" ? {} : readFacts(object);
}

export const readyOf = (object: KubeObject): Condition | undefined =>
  readStatus(object).conditions?.find(({ type }) => type === "Ready");

export const conditions = (object: KubeObject, now: number, condition: ReadyState): Condition[] =>
  conditionsOf(readStatus(object).conditions ?? [], object.metadata.generation ?? 1, now, condition);

/** Adds a condition whose type is its reason. */
export function alsoHolds(object: KubeObject, now: number, shown: readonly Condition[], also: Obstacle): Condition[] {
  const { conditions: before = [] } = readStatus(object);
  return withCondition(shown, before, object.metadata.generation ?? 1, now, { type: also.reason, ...also });
}

/** The conditions of a paused object: those that it had, and Paused. */
export function paused(object: KubeObject, now: number): Condition[] {
  const message = object.metadata.deletionTimestamp
    ? "paused while it is being deleted: to keep the resource, set deletionPolicy: Retain; without the annotation mooring.dev/paused the deletion goes on"
    : "paused: remove the annotation mooring.dev/paused to resume";
  return alsoHolds(object, now, readStatus(object).conditions ?? [], { reason: "Paused", message });
}

/** Whether `status` must be written. Neither another request id in a message counts, nor a field that moved to `internal`. */
export function differs(object: KubeObject, status: object): boolean {
  const [before, after] = [flat(statusOf(object)), plain(flat(status))];
  if (isDeepStrictEqual(before, after)) return false;
  const shown = readStatus(object).conditions ?? [];
  const conditions = sharedStatus.shape.conditions.safeParse(after.conditions).data?.map((each, index) => {
    const old = shown[index];
    return old && isSaidAgain(old, each) ? { ...each, message: old.message } : each;
  });
  return !isDeepStrictEqual(before, { ...after, conditions });
}

/** As the API server returns it. */
function plain(value: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value));
}
