import type { Inputs, Reference, ResourceKind } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { type AccountHandle, titleOf } from "../accounts/accounts.ts";
import { claimOf, type ObjectKey, type Objects, observes } from "../objects/objects.ts";
import { policiesOf } from "../objects/policies.ts";
import type { Obstacle } from "../schema/reasons.ts";

/**
 * Where a contract is shared, knowing an id gives no right to what has it: unless the Account allows adoption, ids lead
 * only to what objects of the same namespace own. `begun`: what the object has, or is about to have, of its own.
 */
export function notYours(
  objects: Objects,
  { kind, resource: { place } }: ResourceKind,
  object: KubeObject,
  { references, parents }: { references: Reference[]; parents: Inputs["parents"] },
  account: AccountHandle | undefined,
  begun: object | undefined,
): Obstacle | undefined {
  if (!account || account.adoption === "Any") return undefined;
  const { namespace = "" } = object.metadata;
  const { externalId } = policiesOf(object);
  const house = place.collection(parents);
  /** A number is one of many in its datacenter, which may be lent by another namespace: for externalId the place counts, too. */
  const owns = (key: ObjectKey, isExternal: boolean): boolean => {
    const other = objects.find(key);
    const claim = other && !observes(other.object) ? claimOf(other.object) : undefined;
    const isThere = !isExternal || (other?.kind.kind === kind && claim && place.collection(claim.parents) === house);
    return claim?.account === account.key && isThere === true;
  };
  const named = references.flatMap(({ field, target }) =>
    "id" in target ? [{ field: field.replace(/Ref$/, "Id"), id: target.id }] : [],
  );
  if (externalId !== undefined && (!begun || observes(object))) named.push({ field: "externalId", id: externalId });
  const foreign = named.find(
    ({ field, id }) => !objects.holders(namespace, id).some((key) => owns(key, field === "externalId")),
  );
  if (!foreign) return undefined;
  const message = `${foreign.field}: no object of namespace ${namespace} has ${foreign.id}, and ${titleOf(account.key)} leads to nothing else: name an object, or ask the administrator for adoption: Any`;
  return { reason: "NotYours", message, stalled: true };
}
