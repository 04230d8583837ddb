import type { Desired } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { type AccountHandle, titleOf } from "../accounts/accounts.ts";
import { claimOf, type Objects, observes } from "../objects/objects.ts";
import { policiesOf } from "../objects/policies.ts";
import type { Obstacle } from "../schema/reasons.ts";

/**
 * Where a contract is shared, knowing an id gives no right to what has it: unless the Account allows adoption, ids lead
 * only to what objects of the same namespace own. `begun`: the object has, or is about to have, a resource of its own.
 */
export function notYours(
  objects: Objects,
  object: KubeObject,
  { references }: Desired,
  account: AccountHandle | undefined,
  begun: boolean,
): Obstacle | undefined {
  if (!account || account.adoption === "Any") return undefined;
  const { namespace = "" } = object.metadata;
  const { externalId } = policiesOf(object);
  const owns = (other: KubeObject | undefined, id: string): boolean => {
    const claim = other && !observes(other) ? claimOf(other) : undefined;
    return claim?.account === account.key && claim.id === id;
  };
  const isOwn = (id: string) => objects.holders(namespace, id).some((key) => owns(objects.find(key)?.object, id));
  const named = references.flatMap(({ field, target }) =>
    "id" in target ? [{ field: field.replace(/Ref$/, "Id"), id: target.id }] : [],
  );
  if (externalId !== undefined && (!begun || observes(object))) named.push({ field: "externalId", id: externalId });
  const foreign = named.find(({ id }) => !isOwn(id));
  if (!foreign) return undefined;
  const message = `${foreign.field}: no object of namespace ${namespace} has ${foreign.id}, and ${titleOf(account.key)} leads to nothing else: name an object, or ask the administrator for adoption: Any`;
  return { reason: "NotYours", message };
}
