import { namedBy as accountNamed, objectOf } from "../../engine/accounts/accounts.ts";
import { isPaused } from "../../engine/state/annotations.ts";
import { namedBy, type ObjectKey, targetOf } from "../../engine/state/object.ts";
import { policiesOf } from "../../engine/state/policies.ts";
import { reasons } from "../../engine/status/reasons.ts";
import { readStatus } from "../../engine/status/status.ts";
import { adviceFor, isReady, type MooringObject, readyOf } from "../objects.ts";
import { type Actor, actorOf } from "./reasons.ts";

const DEEPEST = 8;

/** One step of the chain: an object that is not Ready, and the objects that it waits for. */
export interface Step {
  object: string;
  exists: boolean;
  ready: boolean;
  reason: string;
  message: string;
  what_to_do: string;
  who: Actor;
  waits_for: Step[];
}

/** An object by its key: undefined if it does not exist, "hidden" if the caller may not read it. */
export type Find = (key: ObjectKey) => Promise<MooringObject | undefined | "hidden">;

export async function stepOf(
  find: Find,
  key: ObjectKey,
  found: MooringObject | undefined | "hidden",
  seen: ReadonlySet<ObjectKey> = new Set(),
): Promise<Step> {
  if (found === "hidden") {
    const hidden = { reason: "NotVisible", message: `you may not read ${key}`, who: "you" as const };
    const wayOut = `Ask somebody who may read ${key}, or for the right to get it.`;
    return { object: key, exists: true, ready: false, ...hidden, what_to_do: wayOut, waits_for: [] };
  }
  if (!found) {
    const gone = { reason: "ReferenceNotFound", message: `${key} does not exist`, who: "you" as const };
    const wayOut = `Create ${key}, or correct the name.`;
    return { object: key, exists: false, ready: false, ...gone, what_to_do: wayOut, waits_for: [] };
  }
  const { reason = "Pending", message = "" } = readyOf(found.object) ?? {};
  const ready = isReady(found.object);
  const next = ready || seen.size >= DEEPEST ? [] : neededBy(found).filter((each) => !seen.has(each));
  const below = new Set([...seen, key]);
  const waits: Step[] = [];
  for (const each of new Set(next)) {
    const step = await stepOf(find, each, await find(each), below);
    if (!step.ready) waits.push(step);
  }
  const paused = isPaused(found.object);
  return {
    object: key,
    exists: true,
    ready,
    reason: paused ? "Paused" : reason,
    message: paused && !ready ? `paused: remove the annotation mooring.dev/paused to resume; ${message}` : message,
    what_to_do: paused ? reasons.Paused : adviceFor(reason),
    who: paused ? "you" : actorOf(reason),
    // Causes that need a user come first.
    waits_for: waits.sort((a, b) => urgency(rootOf(a)) - urgency(rootOf(b))),
  };
}

const urgency = ({ who }: Step) => (who === "you" || who === "administrator" ? 0 : 1);

/** The parts of a key. The key of a cluster-scoped object has no namespace. */
export function placeOf(key: ObjectKey) {
  const [kind = "", name = ""] = key.split("/");
  return key.split("/").length === 2 ? { kind, namespace: undefined, name } : targetOf(key);
}

/** The referenced objects and the Account. */
export function neededBy({ kind, object }: MooringObject): ObjectKey[] {
  const { accountRef } = policiesOf(object);
  const { account } = readStatus(object);
  const chosen = accountRef ? accountNamed(object.metadata.namespace ?? "", accountRef) : account;
  return [...(chosen ? [objectOf(chosen)] : []), ...namedBy(kind, object).map(({ key }) => key)];
}

/** The end of the chain: the root cause. A paused object is a root cause. */
export const rootOf = (step: Step): Step => {
  const [first] = step.waits_for;
  return first && step.reason !== "Paused" ? rootOf(first) : step;
};
