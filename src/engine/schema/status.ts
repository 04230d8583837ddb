import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../kube/resource.ts";
import { type Standing as AnyStanding, type Condition, conditionsOf, withPause } from "../../kube/write/conditions.ts";
import { once } from "../../once.ts";
import type { Reason } from "./reasons.ts";
import { flat, groupOf, known, placed, type ResourceStatus } from "./status-schema.ts";
import { GROUPS, type Group, trust } from "./trust.ts";

/** How an object stands, for a reason of the closed list. */
export type Standing = AnyStanding & { reason: Reason };

function statusOf({ status }: KubeObject): object {
  return typeof status === "object" && status !== null ? status : {};
}

/** What counts of an object's status, by the verdict that is kept with it. */
const counted = once((object: KubeObject): Record<string, unknown> => {
  const status = flat(statusOf(object));
  const verdict = trust.get(object);
  if (!verdict || GROUPS.every((group) => verdict[group] === "ours")) return status;
  const counts = (group: Group | undefined) => group === undefined || verdict[group] === "ours";
  return Object.fromEntries(Object.entries(status).filter(([name]) => counts(groupOf(name))));
});

/** The engine's part of an object's status; a field that somebody has spoilt counts as absent. */
export const readStatus: (object: KubeObject) => ResourceStatus = once(parse);

function parse(object: KubeObject): ResourceStatus {
  const status = counted(object);
  const whole = known.safeParse(status);
  if (whole.success) return whole.data;
  const sound = Object.entries(known.shape).filter(
    ([name, schema]) => schema.safeParse(Reflect.get(status, name)).success,
  );
  return known.partial().parse(Object.fromEntries(sound.map(([name]) => [name, Reflect.get(status, name)])));
}

/** All that counts of an object's status, everything in its place. */
export const readWhole = (object: KubeObject): Record<string, unknown> => ({ ...placed(counted(object)) });

/** The kind's part of an object's status. */
export function readFacts(object: KubeObject): Record<string, unknown> {
  return Object.fromEntries(Object.entries(counted(object)).filter(([name]) => groupOf(name) === "facts"));
}

export const readyOf = (object: KubeObject): Condition | undefined =>
  readStatus(object).conditions?.find(({ type }) => type === "Ready");

/** How the object stands, as conditions. */
export const conditions = (object: KubeObject, now: number, standing: Standing): Condition[] =>
  conditionsOf(readStatus(object).conditions ?? [], object.metadata.generation ?? 1, now, standing);

/** The conditions of an object that is paused: those that it had, and one that says so. */
export const paused = (object: KubeObject, now: number): Condition[] =>
  withPause(readStatus(object).conditions ?? [], object.metadata.generation ?? 1, now, {
    reason: "Paused" satisfies Reason,
    message: "paused: remove the annotation mooring.dev/paused to resume",
  });

/** Whether an object stands otherwise than `standing` says, whatever else its status has. */
export function standsOtherwise(
  object: KubeObject,
  { conditions, observedGeneration }: Record<string, unknown>,
): boolean {
  const stored = flat(statusOf(object));
  const shown = { conditions: stored.conditions, observedGeneration: stored.observedGeneration };
  return !isDeepStrictEqual(plain(shown), plain({ conditions, observedGeneration }));
}

/** Whether writing `status` would change what the object says; where it stands is not worth a write of its own. */
export function differs(object: KubeObject, status: object): boolean {
  return !isDeepStrictEqual(flat(statusOf(object)), plain(flat(status)));
}

/** As it would be after a way over the wire. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
