import { namedBy as accountNamed, objectOf } from "../../engine/accounts/accounts.ts";
import { PAUSED } from "../../engine/state/names.ts";
import { type Named, namedBy, type ObjectKey, observes, targetOf } from "../../engine/state/object.ts";
import { policiesOf } from "../../engine/state/policies.ts";
import type { Reason } from "../../engine/status/reasons.ts";
import { readStatus } from "../../engine/status/status.ts";
import { hasResource } from "../../kinds/kind.ts";
import { nearestWord } from "../../runtime/nearest-word.ts";
import { adviceFor, isPaused, isReady, type MooringObject, readyOf } from "../objects.ts";
import { type Actor, actorOf, needsSomebody } from "./actors.ts";

const DEEPEST = 8;

/** One step of the chain: an object that is not Ready, and the objects that it waits for. */
export interface ChainLink {
  object: string;
  exists: boolean;
  ready: boolean;
  reason: string;
  message: string;
  what_to_do: string;
  who: Actor;
  waits_for: ChainLink[];
}

/** An object by its key: undefined if it does not exist, "hidden" if the caller may not read it. */
export interface Find {
  (key: ObjectKey): Promise<MooringObject | undefined | "hidden">;
  /** The names of the objects of the same kind in the same namespace, as far as the caller may list them. */
  names?(key: ObjectKey): Promise<string[]>;
  /** The objects that are being deleted and need this one, as far as the caller may list them. */
  leaving?(key: ObjectKey): Promise<ObjectKey[]>;
}

export async function stepOf(
  find: Find,
  key: ObjectKey,
  found: MooringObject | undefined | "hidden",
  seen: ReadonlySet<ObjectKey> = new Set(),
): Promise<ChainLink> {
  if (found === "hidden") {
    const hidden = { reason: "NotVisible", message: `you may not read ${key}`, who: "you" as const };
    const wayOut = `Ask somebody who may read ${key}, or for the right to get it.`;
    return { object: key, exists: true, ready: false, ...hidden, what_to_do: wayOut, waits_for: [] };
  }
  if (!found) {
    const gone = { reason: "ReferenceNotFound", message: `${key} does not exist`, who: "you" as const };
    const near = nearestWord(placeOf(key).name, (await find.names?.(key)) ?? []);
    const wayOut = `Create ${key}, or correct the name${near === undefined ? "." : `: did you mean ${near}?`}`;
    return { object: key, exists: false, ready: false, ...gone, what_to_do: wayOut, waits_for: [] };
  }
  const { reason = "Pending", message = "" } = readyOf(found.object) ?? {};
  const ready = isReady(found.object);
  const isLast = ready || seen.size >= DEEPEST;
  const leaving = isLast ? [] : await awaitedDeletions(find, key, message);
  const next = isLast ? [] : [...leaving, ...blamed(found, reason, message)].filter((each) => !seen.has(each));
  const below = new Set([...seen, key]);
  const waits: ChainLink[] = [];
  for (const each of new Set(next)) {
    const there = await find(each);
    if (!there && leaving.includes(each)) continue;
    const step = await stepOf(find, each, there, below);
    // A paused object may still be Ready, and is not deleted.
    if (!step.ready || (leaving.includes(each) && step.reason === "Paused")) waits.push(step);
  }
  const paused = isPaused(found);
  const isKept = paused && found.object.metadata.deletionTimestamp !== undefined;
  return {
    object: key,
    exists: true,
    ready,
    reason: paused ? "Paused" : reason,
    message: paused && (!ready || isKept) ? `paused: ${resumed(key)}${ready ? "" : `; ${message}`}` : message,
    what_to_do: paused ? howToResume(found) : adviceFor(reason, found.kind),
    who: paused ? "you" : actorOf(reason),
    // Causes that need a user come first.
    waits_for: waits.sort((a, b) => urgency(rootOf(a)) - urgency(rootOf(b))),
  };
}

/** How to resume an object, and what that does to the resource of an object that is being deleted. */
export function howToResume({ key, kind, object }: MooringObject): string {
  const how = resumed(key);
  if (object.metadata.deletionTimestamp === undefined || !hasResource(kind)) return `Resume it: ${how}.`;
  if (observes(object)) return `Resume it: ${how}. Its resource stays (managementPolicy: Observe).`;
  if (policiesOf(object).deletionPolicy === "Retain")
    return `Resume it: ${how}. Its resource stays (deletionPolicy: Retain).`;
  const what = kind.resource.destruction.holdsData ? `${kind.kind} with its data` : kind.kind;
  return `To keep the resource, set deletionPolicy: Retain first. Then resume it: ${how}. With deletionPolicy: Delete, that deletes the ${what}.`;
}

/** How to resume a paused object. */
export const resumed = (key: ObjectKey): string => `mooring resume ${key}, or remove the annotation ${PAUSED}`;

const urgency = ({ who }: ChainLink) => (needsSomebody(who) ? 0 : 1);

/** The parts of a key. The key of a cluster-scoped object has no namespace. */
export function placeOf(key: ObjectKey) {
  const [kind = "", name = ""] = key.split("/");
  return key.split("/").length === 2 ? { kind, namespace: undefined, name } : targetOf(key);
}

/** The Account of an object: the one that it names, or that it has worked with. */
export function accountOf({ object }: MooringObject): ObjectKey[] {
  const { accountRef } = policiesOf(object);
  const { account } = readStatus(object);
  const chosen = accountRef ? accountNamed(object.metadata.namespace ?? "", accountRef) : account;
  return chosen ? [objectOf(chosen)] : [];
}

/** The referenced objects and the Account. */
const neededBy = (each: MooringObject): ObjectKey[] => [
  ...accountOf(each),
  ...namedBy(each.kind, each.object).map(({ key }) => key),
];

/** Reasons that an Account causes. */
const ofAccount: ReadonlySet<string> = new Set<Reason>(["AccountNotFound", "AccountNotReady", "UserChanged"]);
/** Reasons that a referenced object causes. */
const ofReference: ReadonlySet<string> = new Set<Reason>(["ReferenceNotFound", "ReferenceNotReady"]);

/**
 * The objects that a reason is about. A message about a reference begins with its field. Any other reason is the
 * object's own, whatever state its references are in. An object that was not reconciled yet may wait for all of them.
 */
function blamed(each: MooringObject, reason: string, message: string): ObjectKey[] {
  if (reason === "Pending") return neededBy(each);
  if (ofAccount.has(reason)) return accountOf(each);
  if (!ofReference.has(reason)) return [];
  const references = namedBy(each.kind, each.object);
  const isMeant = ({ field }: Named) => message.startsWith(`${field}: `);
  // It may also begin with the field of something that is no object of Mooring, such as a ConfigMap.
  const meant = /^\S+: /.test(message) || references.some(isMeant) ? references.filter(isMeant) : references;
  return meant.map(({ key }) => key);
}

const AWAITED = /^waiting for the deletion of (.*)$/;
/** The message names only the first ones. */
const MORE = / and \d+ more$/;

/** The objects whose deletion an object waits for. The message may say in brackets why one stays. */
async function awaitedDeletions(find: Find, key: ObjectKey, message: string): Promise<ObjectKey[]> {
  const named = AWAITED.exec(message)?.[1];
  if (named === undefined) return [];
  const all = MORE.test(named) ? ((await find.leaving?.(key)) ?? []) : [];
  const keys = named
    .replace(MORE, "")
    .split(", ")
    .map((each) => each.split(" ")[0] ?? "");
  return [...keys.filter((each) => each.includes("/")), ...all];
}

/** The objects among these that are being deleted and need this one. */
export const leavingIn = (all: Iterable<MooringObject>, key: ObjectKey): ObjectKey[] =>
  [...all].flatMap((each) =>
    each.object.metadata.deletionTimestamp !== undefined && neededBy(each).includes(key) ? each.key : [],
  );

/** The end of the chain: the root cause. A paused object is a root cause. */
export const rootOf = (step: ChainLink): ChainLink => {
  const [first] = step.waits_for;
  return first && step.reason !== "Paused" ? rootOf(first) : step;
};
