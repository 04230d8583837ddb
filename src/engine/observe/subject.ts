import { isDeepStrictEqual } from "node:util";
import type { Desired } from "../../kinds/desired.ts";
import { messageOf } from "../../kinds/fields/words-of-spec.ts";
import type { ResourceKind } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { namedBy } from "../accounts/accounts.ts";
import { type Claim, type Intent, isAsNew } from "../state/intent.ts";
import { type Memory, statusIn } from "../state/memory.ts";
import { claimOf, type ObjectKey, openIntent } from "../state/object.ts";
import type { Objects } from "../state/objects.ts";
import { policiesOf } from "../state/policies.ts";
import type { ResourceStatus } from "../status/schema.ts";
import { unknownKey } from "../status/trust.ts";
import type { Deps } from "./deps.ts";
import { type Resolved, resolveReferences } from "./spec/references.ts";
import type { Subject } from "./view.ts";

/** Reads one object: what spec asks for, and what it owns or has begun. */
export function readSubject(deps: Deps, key: ObjectKey, kind: ResourceKind, object: KubeObject): Subject {
  const { objects, memories } = deps;
  const memory = memories.of(key);
  const status = statusIn(object, memory);
  const read = readDesired(kind, object);
  const desired = "value" in read ? read.value : undefined;
  const owned = objects.owned(key);
  const intent = unknownKey(object) ? undefined : (openIntent(object) ?? erasedIntent(status, memory, owned));
  const named = namedResource(object, claimOf(object), status);
  const claim = intent || (owned && namesAnother(objects, object, owned, named, desired)) ? undefined : owned;
  const adopt = claim || intent?.succeeds !== undefined ? undefined : named;
  const unreadable = "obstacle" in read ? read.obstacle : undefined;
  const publication = desired?.publication({ name: object.metadata.name });
  return { key, kind, object, status, memory, desired, publication, claim, intent, adopt, unreadable };
}

/** Spec as its kind reads it. The API server has validated it; this reports what validation cannot see. */
function readDesired(kind: ResourceKind, object: KubeObject): Resolved<Desired> {
  try {
    return { value: kind.resource.desire(object.spec) };
  } catch (error) {
    return { obstacle: { reason: "InvalidSpec", message: messageOf(error) } };
  }
}

/** An open intent whose annotation was removed during its creation. One that is older than status was answered elsewhere. */
function erasedIntent(status: ResourceStatus, { creation }: Memory, owned: Claim | undefined): Intent | undefined {
  const intent = creation?.phase === "claimed" || creation?.phase === "unsent" ? undefined : creation?.intent;
  const isOpen = intent && intent.nonce !== status.nonce && isAsNew(intent, status);
  return isOpen && intent.succeeds === owned?.id ? intent : undefined;
}

/**
 * The existing resource that an object names. An object that only observes shows what spec names now. Otherwise status comes
 * first: externalId stays in spec when its resource is gone and another one was created. It counts again after an edit.
 */
function namedResource(object: KubeObject, stated: Claim | undefined, status: ResourceStatus): string | undefined {
  const { externalId } = policiesOf(object);
  const wanted = externalId === status.leftExternalId ? undefined : externalId;
  return stated?.onlyObserved ? (wanted ?? stated.id) : (stated?.id ?? wanted);
}

/** Whether spec now names another resource, Account or parent than the one that the object only observes. */
function namesAnother(objects: Objects, object: KubeObject, owned: Claim, named?: string, desired?: Desired): boolean {
  const { onlyObserved, id, account, parents } = owned;
  if (!onlyObserved) return false;
  return named !== id || isElsewhere(object, account) || isMoved(objects, object, parents, desired);
}

/** Whether spec names other parents than these. */
export function isMoved(objects: Objects, object: KubeObject, parents: Claim["parents"], desired?: Desired): boolean {
  const resolved = desired && resolveReferences(objects, object, desired);
  return resolved !== undefined && "value" in resolved && !isDeepStrictEqual(resolved.value.parents, parents);
}

/** Whether spec names another Account than this one. */
export function isElsewhere(object: KubeObject, account: string | undefined): boolean {
  const { accountRef } = policiesOf(object);
  if (!accountRef || account === undefined) return false;
  return namedBy(object.metadata.namespace ?? "", accountRef) !== account;
}
