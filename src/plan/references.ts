import { accountOf } from "../engine/accounts/accounts.ts";
import { claimOf, type Named, type ObjectKey, observes } from "../engine/state/object.ts";
import type { Kind } from "../kinds/kind.ts";
import type { KubeObject } from "../kube/resource.ts";
import type { PlanItem } from "./item.ts";
import type { Stage } from "./stage.ts";

/** A reference to an object that is neither in the cluster nor in the files, as far as the caller sees. */
export interface Absent {
  reference: Named;
  namespace: string;
  plural: string;
  /** The caller may not read it: it may exist. */
  isHidden: boolean;
}

/** The first absent object that spec refers to. A resource that exists no longer needs the objects it was placed by. */
export function absentIn(
  { objects }: Stage,
  kind: Kind,
  object: KubeObject,
  isPlaced: boolean,
  sees: (key: ObjectKey) => boolean,
): Absent | undefined {
  const reference = objects
    .named(kind, object)
    .find(({ key, bond = "place" }) => !objects.find(key) && (!isPlaced || bond === "use"));
  if (!reference) return undefined;
  const { plural = "" } = objects.kinds.find((each) => each.kind === reference.kind) ?? {};
  const elsewhere = "namespace" in reference.target ? reference.target.namespace : undefined;
  const namespace = elsewhere ?? object.metadata.namespace ?? "";
  return { reference, namespace, plural, isHidden: !sees(reference.key) };
}

export function absenceOf({ reference, namespace, plural, isHidden }: Absent): Pick<PlanItem, "action" | "message"> {
  const { field, kind, key } = reference;
  const title = `${kind} ${key.split("/").at(-1)}`;
  return isHidden
    ? {
        action: "unknown",
        message: `whether ${title} exists is not known: you may not read ${plural} in namespace ${namespace}`,
      }
    : { action: "wait", message: `ReferenceNotFound: ${field}: ${title} not found in namespace ${namespace}` };
}

/** Objects that are not deleted, and whose resource uses that of this object, is in it, or is held through this Account. */
export function stayingUsers({ objects }: Stage, key: ObjectKey, object: KubeObject): ObjectKey[] {
  const [claim, account] = [claimOf(object), accountOf(key)];
  const inside = claim ? objects.inhabitants(claim.id, claim.endpoint) : [];
  const all = account === undefined ? [...objects.dependents(key), ...inside] : objects.users(account);
  const isStaying = (each: ObjectKey) => {
    const user = objects.find(each)?.object;
    return user !== undefined && user.metadata.deletionTimestamp === undefined && !observes(user);
  };
  return [...new Set(all)].filter((each) => each !== key && isStaying(each)).sort();
}
