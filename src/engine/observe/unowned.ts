import { isDeepStrictEqual } from "node:util";
import type { Desired, Drift } from "../../kinds/desired.ts";
import type { Kind } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { namedBy } from "../accounts/accounts.ts";
import type { Claim } from "../state/intent.ts";
import type { Objects } from "../state/objects.ts";
import { policiesOf } from "../state/policies.ts";
import { resolveReferences } from "./references.ts";

/**
 * The resource that an object names and does not own. What it only shows is whatever spec names now; else what its status says
 * comes first: externalId stays in spec when the resource is gone and another one was created.
 */
export function namedResource(object: KubeObject, stated: Claim | undefined, left: string | undefined) {
  const { externalId } = policiesOf(object);
  const wanted = externalId === left ? undefined : externalId;
  return stated?.onlyObserved ? (wanted ?? stated.id) : (stated?.id ?? wanted);
}

/** Whether spec means another resource by now than the one that the object shows and does not own: that is looked for anew. */
export function meansAnother(
  objects: Objects,
  object: KubeObject,
  desired: Desired | undefined,
  shown: Claim,
  named: string | undefined,
): boolean {
  if (!shown.onlyObserved) return false;
  if (named !== shown.id || isElsewhere(object, shown.account)) return true;
  const resolved = desired && resolveReferences(objects, object, desired);
  return resolved !== undefined && "value" in resolved && !isDeepStrictEqual(resolved.value.parents, shown.parents);
}

/** Whether spec names another Account than the one that something was made with. */
export function isElsewhere(object: KubeObject, account: string | undefined): boolean {
  const { accountRef } = policiesOf(object);
  if (!accountRef || account === undefined) return false;
  return namedBy(object.metadata.namespace ?? "", accountRef) !== account;
}

/** The differences from spec that no write can remove: spec has to be corrected before the resource is adopted. */
export function misfits({ immutable, grows = [] }: Kind, drift: readonly Drift[]): Drift[] {
  const fixed = Object.keys(immutable);
  const isFixed = (field: string) => fixed.some((each) => field === each || field.startsWith(`${each}.`));
  const isTooLarge = ({ field, wanted, found }: Drift) => grows.includes(field) && Number(found) > Number(wanted);
  return drift.filter((each) => isFixed(each.field) || isTooLarge(each));
}
