import type { Inputs, Mention, Reference } from "../../../kinds/desired.ts";
import type { KubeObject } from "../../../kube/resource.ts";
import { isPublic, publicPart } from "../../../platform/products/catalogues.ts";
import { type AccountHandle, accountTitle, isShared, urlOf } from "../../accounts/accounts.ts";
import type { Claim } from "../../state/intent.ts";
import { keyOfTarget, namespaceOf, type ObjectKey, objectKey, observes } from "../../state/object.ts";
import type { Objects } from "../../state/objects.ts";
import { policiesOf } from "../../state/policies.ts";
import type { Obstacle } from "../../status/reasons.ts";
import { readWhole } from "../../status/status.ts";
import { knownAddress } from "../account.ts";
import type { Deps } from "../deps.ts";
import type { Context, Subject } from "../view.ts";

/**
 * With `adoption: None` an Account shares one contract between namespaces. Then ids, numbers, addresses and names in spec
 * may only lead to what objects of the same namespace own. Objects that spec names are checked too: their resource may come
 * from another Account.
 */
export function notYours(deps: Deps, subject: Subject, inputs: Inputs, account?: AccountHandle): Obstacle | undefined {
  const { objects } = deps;
  const { kind, object, desired, adopt } = subject;
  const { parents, abroad = [] } = inputs;
  if (!desired || !account || account.adoption === "Any") return undefined;
  const owner = ownerIn(objects, object, account);
  // A mention within a parent of another namespace is judged by its kind.
  const isForeign = ({ within, ...mention }: Mention) =>
    within === undefined ? !owner.has(mention) : !abroad.includes(within) && !owner.hasId(parents[within] ?? "");
  const foreign =
    desired.references
      .map((reference) => mentioned(objects, object, reference, owner))
      .find((mention) => mention !== undefined) ??
    // A mention that may be in a catalogue is judged by `notPublic`, when the catalogue was read.
    desired.mentions.find((mention) => mention.catalogue === undefined && isForeign(mention)) ??
    handedOver(objects, subject);
  if (foreign) return refusal(foreign, object, account);
  const { externalId } = policiesOf(object);
  const named = observes(object) ? externalId : adopt;
  if (named === undefined || isOwn(subject, named)) return undefined;
  const { collection } = kind.resource.place;
  // A number is unique only in its collection, which may be in a datacenter of another namespace.
  const isThere = (key: ObjectKey, owned: Claim) =>
    objects.find(key)?.kind.kind === kind.kind && collection(owned.parents) === collection(parents);
  const field = externalId === named ? "externalId" : "managementPolicy";
  return owner.hasId(named, isThere) ? undefined : refusal({ field, value: named }, object, account);
}

/** Whether the object has created or adopted this resource: naming it asks for nothing. One that has only observed owns nothing. */
const isOwn = ({ claim, status }: Subject, id: string): boolean =>
  claim?.id === id && !claim.onlyObserved && (claim.adoptedAt ?? status.nonce) !== undefined;

/** The same rule for images, which may also be public. Called before a body that names one is sent; reads the catalogue. */
export async function notPublic(deps: Deps, context: Context, body: unknown): Promise<Obstacle | undefined> {
  const { object, desired, account } = context;
  if (!desired || !account || account.adoption === "Any") return undefined;
  const owner = ownerIn(deps.objects, object, account);
  const sent = JSON.stringify(body ?? "");
  for (const mention of desired.mentions) {
    const { catalogue, value } = mention;
    if (catalogue === undefined || !sent.includes(value) || owner.has(mention)) continue;
    const answer = await deps.catalogues.read(account.connection, urlOf(account, "core", catalogue), "core");
    if (!isPublic(answer, value)) return refusal(mention, object, account);
  }
  return undefined;
}

/** A catalogue without the private images of the contract, unless the Account allows adoption. */
export const shownTo = ({ adoption }: AccountHandle, catalogue: unknown): unknown =>
  adoption === "Any" ? catalogue : publicPart(catalogue);

/** The resources that objects of the namespace own in the contract of an Account. An object that only observes owns nothing. */
function ownerIn(objects: Objects, { metadata: { namespace = "" } }: KubeObject, account: AccountHandle) {
  const { contractNumber } = account.connection;
  const owned = (key: ObjectKey) => {
    const { kind, object } = objects.find(key) ?? {};
    const claim = object && !observes(object) ? objects.owned(key) : undefined;
    if (!kind?.resource || !claim) return undefined;
    // The same id at another address may be anything.
    if (knownAddress(account, kind.resource.place.product) !== claim.endpoint) return undefined;
    // The tenant chooses the address of an Account in its namespace: contract numbers from there prove nothing.
    const isSame = contractNumber !== undefined && claim.contract === contractNumber && isShared(claim.account);
    return claim.account === account.key || isSame ? claim : undefined;
  };
  const hasId = (id: string, isMeant: (key: ObjectKey, claim: Claim) => boolean = () => true) =>
    objects.holders(namespace, id).some((key) => {
      const claim = owned(key);
      // Until the answer to its creation is confirmed, it may be anybody's.
      return claim?.id === id && claim.notBefore === undefined && isMeant(key, claim);
    });
  const hasPart = ({ kind, isIn }: NonNullable<Mention["part"]>) =>
    [...objects.store(kind).values()].some(
      (other) =>
        other.metadata.namespace === namespace &&
        isIn(readWhole(other)) &&
        owned(objectKey(kind, namespace, other.metadata.name)),
    );
  return { owned, hasId, has: ({ value, part }: Mention) => (part ? hasPart(part) : hasId(value)) };
}

type Owner = ReturnType<typeof ownerIn>;

/** The resource behind a reference, if the namespace does not own it. An object without a resource is no problem yet. */
function mentioned(objects: Objects, object: KubeObject, reference: Reference, owner: Owner): Mention | undefined {
  const { namespace = "" } = object.metadata;
  const { kind, field, target } = reference;
  if ("id" in target) {
    const mention = { field: field.replace(/Ref$/, "Id"), value: target.id, ...(target.part && { part: target.part }) };
    return owner.has(mention) ? undefined : mention;
  }
  const key = keyOfTarget(namespace, kind, target);
  const claim = objects.owned(key);
  return claim && !owner.owned(key) && !owner.hasId(claim.id) ? { field, value: claim.id } : undefined;
}

/** A parent of the resource that an object of another namespace has adopted since. */
function handedOver(objects: Objects, { object, desired, claim, intent }: Subject): Mention | undefined {
  const { namespace = "" } = object.metadata;
  const { parents = {}, endpoint = "" } = claim ?? intent ?? {};
  const lost = desired?.references.find(({ role, kind, target }) => {
    const id = parents[role];
    const home = ("name" in target && target.namespace) || namespace;
    return (
      id !== undefined && objects.claimants(kind, { id, parents, endpoint }).some((key) => namespaceOf(key) !== home)
    );
  });
  return lost && { field: lost.field, value: parents[lost.role] ?? "" };
}

/** The message is the same whether it exists or not. */
function refusal({ field, value }: Mention, { metadata }: KubeObject, { key }: AccountHandle): Obstacle {
  const message = `${field}: no object of namespace ${metadata.namespace} owns ${value}, and ${accountTitle(key)} allows nothing else: name an object, or ask the administrator for adoption: Any`;
  return { reason: "NotYours", message };
}
