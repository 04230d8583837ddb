import { isDeepStrictEqual } from "node:util";
import { accountKinds, accountOf, isShared, namedBy, objectOf, userOf } from "../engine/accounts/accounts.ts";
import type { Deps } from "../engine/observe/deps.ts";
import { troubleOf } from "../engine/observe/spec/references.ts";
import { isPaused } from "../engine/state/annotations.ts";
import type { Claim } from "../engine/state/intent.ts";
import { desiredVersionOf } from "../engine/state/memory.ts";
import { FINALIZER } from "../engine/state/names.ts";
import { claimOf, isMisnamed, namespaceOf, type ObjectKey, openIntent } from "../engine/state/object.ts";
import type { Objects } from "../engine/state/objects.ts";
import { policiesOf } from "../engine/state/policies.ts";
import { readFacts, readyOf } from "../engine/status/status.ts";
import { trust, unknownKey } from "../engine/status/trust.ts";
import { type Kind, usesAccount } from "../kinds/kind.ts";
import type { Lane } from "../kube/queue/lanes.ts";
import type { KubeObject } from "../kube/resource.ts";

type Known = Pick<Deps, "objects" | "accounts">;

/** The Account and the namespace for which a pass over an object makes calls; without an Account, the namespace alone. */
export function laneOf({ objects, accounts }: Known, key: ObjectKey): Lane {
  const [, namespace = ""] = key.split("/");
  const itself = accountOf(key);
  const none = { account: namespace, namespace, shared: false };
  const found = objects.find(key);
  // All objects over the limit of a namespace share one lane.
  if (found && objects.excess(found.kind, found.object)) return none;
  if (itself !== undefined) return { account: itself, namespace: isShared(itself) ? "" : namespace, shared: false };
  if (!found) return none;
  const user = userOf(found.kind, found.object);
  // Neither status nor spec puts an object into the lane of an Account that it may not use.
  const open = (account = "") => (accounts.isOpenTo(user, account) ? account : undefined);
  const used = open(objects.accountOf(key)) ?? open(accounts.choose(user, policiesOf(found.object).accountRef).key);
  return used === undefined ? none : { account: used, namespace, shared: isShared(used) };
}

/** Objects that use an Account, or may: those that use and name no other one. Yields undefined for each that it skips. */
export function* usersOf({ objects, accounts }: Known, account: string): Generator<ObjectKey | undefined> {
  yield* objects.users(account);
  const isUser = (key: ObjectKey) => {
    const used = objects.accountOf(key);
    // Yielded above.
    if (used === account) return false;
    const found = objects.find(key);
    if (!found || !usesAccount(found.kind)) return false;
    const user = userOf(found.kind, found.object);
    if (!accounts.isOpenTo(user, account)) return false;
    const ref = policiesOf(found.object).accountRef;
    // An Account of another namespace is never used, whatever status says.
    const settled = used !== undefined && (isShared(used) || accounts.isOpenTo(user, used)) ? used : undefined;
    const known = [settled, ref && namedBy(user.namespace, ref)];
    return known.includes(account) || known.every((each) => each === undefined);
  };
  // An Account of a namespace has its users there, and nowhere else.
  const candidates = isShared(account) ? allKeys(objects) : objects.residents(namespaceOf(objectOf(account)));
  for (const key of candidates) yield isUser(key) ? key : undefined;
}

/** All objects, Accounts first: others wait for them. */
export function* allKeys(objects: Objects): Generator<ObjectKey> {
  const isAccount = (kind: Kind) => accountKinds.includes(kind);
  const ordered = [...objects.kinds.filter(isAccount), ...objects.kinds.filter((kind) => !isAccount(kind))];
  for (const { kind } of ordered) yield* keysOf(objects, kind);
}

/** An object is gone, or Mooring is done with it: its parents and its Account may be waiting for that. */
export function* waitingForRemoval(objects: Objects, key: ObjectKey, gone: KubeObject): Generator<ObjectKey> {
  const kind = objects.kinds.find((each) => key.startsWith(`${each.kind}/`));
  if (kind) yield* objects.named(kind, gone).map((named) => named.key);
  // Only one such object is allowed, and another one may be waiting.
  if (kind?.resource?.identity.onePer) yield* keysOf(objects, kind.kind);
  const { parents = {}, account } = claimOf(gone) ?? openIntent(gone) ?? {};
  for (const id of Object.values(parents)) yield* objects.holders(gone.metadata.namespace, id);
  const used = account === undefined ? undefined : objectOf(account);
  if (used !== undefined && objects.find(used)?.object.metadata.deletionTimestamp !== undefined) yield used;
}

/** Objects that show their users in status, of those that this object uses. */
export function* usedObjects(objects: Objects, key: ObjectKey, user: KubeObject): Generator<ObjectKey> {
  const kind = objects.kinds.find((each) => key.startsWith(`${each.kind}/`));
  for (const { key: used, bond } of kind ? objects.named(kind, user) : []) {
    if (bond === "use" && objects.find(used)?.kind.resource?.place.showsUsers) yield used;
  }
}

/** An object has another resource, or none: objects that live in the previous one or use it may have changed. */
export function* dependentsOf(objects: Objects, key: ObjectKey, before: Claim | undefined): Generator<ObjectKey> {
  if (before) yield* objects.inhabitants(before.id, before.endpoint);
  yield* objects.referrers(key);
}

const keysOf = (objects: Objects, kind: Kind["kind"]): IteratorObject<ObjectKey> =>
  objects
    .store(kind)
    .keys()
    .map((name) => `${kind}/${name}`);

/** Objects that refer to a changed one and have to reconcile. Yields undefined for those that need not. */
export function* referrersToWake(objects: Objects, key: ObjectKey, before?: KubeObject, after?: KubeObject) {
  const referrers = objects.referrers(key);
  if (referrers.length === 0) return;
  const { toSettled, toWaiting } = changeForReferrers(before, after);
  if (!toSettled && !toWaiting) return;
  const isSettled = (referrer: ObjectKey) => {
    const object = objects.find(referrer)?.object;
    return object !== undefined && (openIntent(object) ?? objects.owned(referrer)) !== undefined;
  };
  for (const referrer of referrers) yield (isSettled(referrer) ? toSettled : toWaiting) ? referrer : undefined;
}

/**
 * Which referrers a change of an object concerns. One that owns nothing yet is waiting: until the object is Ready and owns its
 * resource, and its status says what prevents that. The others are settled: they read the id and the facts, Ready or not.
 */
export function changeForReferrers(before: KubeObject | undefined, after: KubeObject | undefined) {
  if (!before || !after) return { toSettled: true, toWaiting: true };
  const seenBySettled = (object: KubeObject) => [...versionOf(object), claimOf(object), readFacts(object)];
  const seenByWaiting = (object: KubeObject) => {
    const { deletionTimestamp } = object.metadata;
    const readable = isReady(object) && seenBySettled(object);
    return [...versionOf(object), deletionTimestamp, isPaused(object), readable, troubleOf(object)];
  };
  return {
    toSettled: !isDeepStrictEqual(seenBySettled(before), seenBySettled(after)),
    toWaiting: !isDeepStrictEqual(seenByWaiting(before), seenByWaiting(after)),
  };
}

const versionOf = ({ metadata: { uid, generation } }: KubeObject) => [uid, generation];

export const isReady = (object: KubeObject): boolean => readyOf(object)?.status === "True";

/** Whether somebody has edited the desired state of an object, or what Mooring relies on. */
export function isEdited(before: KubeObject, after: KubeObject): boolean {
  const isTrusted = (object: KubeObject) => {
    const { claim, request, instead } = trust.get(object) ?? {};
    return claim === "ours" && request === "ours" && instead === undefined && !isMisnamed(object);
  };
  const isForged = isTrusted(before) && !isTrusted(after);
  const isJudgedAnew = (unknownKey(before) === undefined) !== (unknownKey(after) === undefined);
  return (
    isForged || isJudgedAnew || lostFinalizer(before, after) || desiredVersionOf(before) !== desiredVersionOf(after)
  );
}

/** Whether somebody has removed Mooring's finalizer. */
export function lostFinalizer(before: KubeObject, after: KubeObject): boolean {
  const isMarked = ({ metadata }: KubeObject) => metadata.finalizers?.includes(FINALIZER) ?? false;
  return isMarked(before) && !isMarked(after);
}
