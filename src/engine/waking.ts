import { hasResource, type Kind } from "../kinds/kind.ts";
import { laneWithin } from "../kube/queue.ts";
import type { KubeObject } from "../kube/resource.ts";
import { accountOf, isShared } from "./accounts/accounts.ts";
import type { Deps } from "./look/deps.ts";
import { claimOf, namedBy, type ObjectKey, type Objects, objectKey, openIntent } from "./objects/objects.ts";
import { policiesOf } from "./objects/policies.ts";

/**
 * Whose calls a pass over an object makes, as far as that is known: the Account, else the namespace. Those who share one
 * have lanes of their own within its lane.
 */
export function laneOf({ objects, accounts }: Pick<Deps, "objects" | "accounts">, key: ObjectKey): string {
  const [, namespace = ""] = key.split("/");
  const itself = accountOf(key);
  if (itself !== undefined) return itself;
  const found = objects.find(key);
  if (!found) return namespace;
  const user = { kind: found.kind, namespace };
  // Neither status nor spec puts an object among those whose Account it may not use.
  const open = (account = "") => (accounts.isOpenTo(user, account) ? account : undefined);
  const used = open(objects.accountOf(key)) ?? open(accounts.choose(user, policiesOf(found.object).accountRef).key);
  if (used === undefined) return namespace;
  return isShared(used) ? laneWithin(used, namespace) : used;
}

/** Objects that use an Account. Which would use it is not written anywhere: all that may have waited for it are, too. */
export function* usersOf(
  { objects, accounts }: Pick<Deps, "objects" | "accounts">,
  account: string,
): Generator<ObjectKey> {
  yield* objects.users(account);
  for (const kind of objects.kinds.filter(hasResource)) {
    yield* keysOf(objects, kind.kind, ({ namespace = "" }) => accounts.isOpenTo({ kind, namespace }, account));
  }
}

/** All that may use another Account since the labels of their namespace have changed. */
export function* thoseIn(objects: Objects, namespace: string): Generator<ObjectKey> {
  for (const { kind } of objects.kinds.filter(hasResource)) {
    yield* keysOf(objects, kind, (metadata) => metadata.namespace === namespace);
  }
}

/** An object is gone, or as good as: what held it may be waiting to be empty, and an Account to be needed no more. */
export function* thoseWhoWaited(objects: Objects, key: ObjectKey, gone: KubeObject): Generator<ObjectKey> {
  const kind = objects.kinds.find((each) => key.startsWith(`${each.kind}/`));
  if (kind) yield* namedBy(kind, gone).map((named) => named.key);
  // Its place may be the only one there is, and somebody may be waiting for it.
  if (kind?.resource?.identity.onePer) yield* keysOf(objects, kind.kind);
  for (const id of Object.values((claimOf(gone) ?? openIntent(gone))?.parents ?? {})) yield* objects.holders(id);
  for (const { kind } of objects.kinds.filter((each) => !hasResource(each))) {
    yield* keysOf(objects, kind, ({ deletionTimestamp }) => deletionTimestamp !== undefined);
  }
}

/** An object has another resource, or none: what lived in the one before or uses it is not as it was last seen. */
export function* thoseBelow(objects: Objects, key: ObjectKey, before: string | undefined): Generator<ObjectKey> {
  if (before !== undefined) yield* objects.inhabitants(before);
  yield* objects.referrers(key);
}

function* keysOf(
  objects: Objects,
  kind: Kind["kind"],
  which: (metadata: KubeObject["metadata"]) => boolean = () => true,
): Generator<ObjectKey> {
  for (const { metadata } of objects.store(kind).values()) {
    if (which(metadata)) yield objectKey(kind, metadata.namespace ?? "", metadata.name);
  }
}
