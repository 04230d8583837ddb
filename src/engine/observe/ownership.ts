import { z } from "zod";
import type { Desired, Inputs, Mention, Product, Reference } from "../../kinds/desired.ts";
import type { ResourceKind } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { type AccountHandle, addressOf, isShared, titleOf, urlOf } from "../accounts/accounts.ts";
import type { Claim, Intent } from "../state/intent.ts";
import { keyOfTarget, type ObjectKey, objectKey, observes } from "../state/object.ts";
import type { Objects } from "../state/objects.ts";
import { policiesOf } from "../state/policies.ts";
import type { Obstacle } from "../status/reasons.ts";
import { readWhole } from "../status/status.ts";
import type { Deps } from "./deps.ts";

/** Whom a question about ownership concerns: what the object wants, and the Account that it works with. */
interface Asking {
  object: KubeObject;
  desired: Desired;
  account: AccountHandle | undefined;
}

/**
 * Where a contract is shared, knowing a name of the platform gives no right to what has it: unless the Account allows
 * adoption, ids, numbers and addresses lead only to what objects of the same namespace own. So do names of objects, whose
 * resource another Account may have shown. `begun`: what the object has, or is about to have; `named`: what it shows or is to
 * take over.
 */
export function notYours(
  objects: Objects,
  { resource: { place }, kind }: ResourceKind,
  { object, desired, account }: Asking,
  { parents, abroad = [] }: Pick<Inputs, "parents" | "abroad">,
  begun: Claim | Intent | undefined,
  named: string | undefined,
): Obstacle | undefined {
  if (!account || account.adoption === "Any") return undefined;
  const owner = ownerIn(objects, object, account);
  const leadsAway = (reference: Reference) => mentioned(objects, object, reference, owner);
  // In a place that another namespace lends, its kind says what may be named there.
  const isForeign = ({ within, ...mention }: Mention) =>
    within === undefined ? !owner.has(mention) : !abroad.includes(within) && !owner.hasId(parents[within] ?? "");
  const foreign =
    desired.references.map(leadsAway).find((mention) => mention !== undefined) ??
    // What may be of a catalogue is judged when it is sent: then that has been read.
    desired.mentions.find((mention) => mention.catalogue === undefined && isForeign(mention)) ??
    handedOver(objects, object, desired, begun);
  if (foreign) return refusal(foreign, object, account);
  if (named === undefined) return undefined;
  const house = place.collection(parents);
  // A number is one of many in its datacenter, which may be lent by another namespace: the place counts, too.
  const isThere = (key: ObjectKey, claim: Claim) =>
    objects.find(key)?.kind.kind === kind && place.collection(claim.parents) === house;
  const field = policiesOf(object).externalId === named ? "externalId" : "managementPolicy";
  return owner.hasId(named, isThere) ? undefined : refusal({ field, value: named }, object, account);
}

/**
 * The same for what may be one of the platform's own as well, an image, when a body that names it is about to be sent.
 * Reads the catalogue.
 */
export async function notPublic(
  deps: Pick<Deps, "objects" | "catalogues">,
  { object, desired, account }: Asking,
  body: unknown,
): Promise<Obstacle | undefined> {
  if (!account || account.adoption === "Any") return undefined;
  const owner = ownerIn(deps.objects, object, account);
  const sent = JSON.stringify(body ?? "");
  for (const mention of desired.mentions) {
    const { catalogue, value } = mention;
    if (catalogue === undefined || !sent.includes(value) || owner.has(mention)) continue;
    const answer = await deps.catalogues.read(account.connection, urlOf(account, "core", catalogue), "core");
    const { items } = listed.parse(shownTo(account, answer));
    if (!items.some(({ id, properties }) => id === value && properties.public === true)) {
      return refusal(mention, object, account);
    }
  }
  return undefined;
}

const item = z.looseObject({ id: z.string(), properties: z.looseObject({ public: z.boolean().nullish() }) });
const listed = z.looseObject({ items: z.array(item) });

/** A catalogue without what others of the contract have put into it: their images. */
export function shownTo({ adoption }: AccountHandle, answer: unknown): unknown {
  const { data } = listed.safeParse(answer);
  if (adoption === "Any" || !data) return answer;
  return { ...data, items: data.items.filter(({ properties }) => !("public" in properties) || properties.public) };
}

/** What objects of the same namespace have of the same contract. What they only observe is not theirs. */
function ownerIn(objects: Objects, { metadata: { namespace = "" } }: KubeObject, account: AccountHandle) {
  const { contractNumber } = account.connection;
  const owned = (key: ObjectKey) => {
    const { kind, object } = objects.find(key) ?? {};
    const claim = object && !observes(object) ? objects.owned(key) : undefined;
    // An id means something at the address where it was given: another address may belong to anybody.
    if (kind?.resource && claim && !isAtAddress(account, kind.resource.place.product, claim)) return undefined;
    // An Account of the namespace may lead anywhere, to somebody who makes up what is there as well.
    const isSame = contractNumber !== undefined && claim?.contract === contractNumber && isShared(claim.account);
    return claim?.account === account.key || isSame ? claim : undefined;
  };
  const hasId = (id: string, isMeant: (key: ObjectKey, claim: Claim) => boolean = () => true) =>
    objects.holders(namespace, id).some((key) => {
      const claim = owned(key);
      return claim?.id === id && isMeant(key, claim);
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

/** Whether the Account leads to where a claim was made. */
function isAtAddress(account: AccountHandle, product: Product, { endpoint }: Claim): boolean {
  if (endpoint === undefined) return true;
  try {
    return addressOf(account, product) === endpoint;
  } catch {
    return false;
  }
}

/** What a reference leads to, where that is not the namespace's; nothing, as long as there is nothing behind a name. */
function mentioned(
  objects: Objects,
  { metadata: { namespace = "" } }: KubeObject,
  { kind, field, target }: Reference,
  owner: ReturnType<typeof ownerIn>,
): Mention | undefined {
  if ("id" in target) {
    const mention = { field: field.replace(/Ref$/, "Id"), value: target.id, ...(target.part && { part: target.part }) };
    return owner.has(mention) ? undefined : mention;
  }
  const key = keyOfTarget(namespace, kind, target);
  const claim = objects.owned(key);
  return claim && !owner.owned(key) && !owner.hasId(claim.id) ? { field, value: claim.id } : undefined;
}

/** What the resource lives in, and what an object of another namespace than spec says has by now. */
function handedOver(
  objects: Objects,
  { metadata: { namespace = "" } }: KubeObject,
  { references }: Desired,
  begun: Claim | Intent | undefined,
): Mention | undefined {
  if (!begun) return undefined;
  const { parents, endpoint } = begun;
  const lost = references.find(({ role, kind, target }) => {
    const id = parents[role];
    const place = { id: id ?? "", parents, ...(endpoint !== undefined && { endpoint }) };
    const home = ("name" in target && target.namespace) || namespace;
    return id !== undefined && objects.claimants(kind, place).some((key) => key.split("/")[1] !== home);
  });
  return lost && { field: lost.field, value: parents[lost.role] ?? "" };
}

/** The same words whether it exists or not. */
function refusal({ field, value }: Mention, { metadata }: KubeObject, { key }: AccountHandle): Obstacle {
  const message = `${field}: no object of namespace ${metadata.namespace} owns ${value}, and ${titleOf(key)} allows nothing else: name an object, or ask the administrator for adoption: Any`;
  return { reason: "NotYours", message };
}
