import { z } from "zod";
import type { Desired, Inputs, Mention, Reference } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { type AccountHandle, isShared, titleOf, urlOf } from "../accounts/accounts.ts";
import type { Claim, Intent } from "../objects/intent.ts";
import { type ObjectKey, type Objects, objectKey, observes } from "../objects/objects.ts";
import { policiesOf } from "../objects/policies.ts";
import type { Obstacle } from "../schema/reasons.ts";
import { readWhole } from "../schema/status.ts";
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
 * resource another Account may have shown. `begun`: what the object has, or is about to have.
 */
export function notYours(
  objects: Objects,
  { object, desired, account }: Asking,
  parents: Inputs["parents"],
  begun: Claim | Intent | undefined,
): Obstacle | undefined {
  if (!account || account.adoption === "Any") return undefined;
  const owner = ownerIn(objects, object, account);
  const { externalId } = policiesOf(object);
  const named: Mention[] = desired.references.flatMap((reference) => mentioned(objects, object, reference));
  if (externalId !== undefined && (!begun || observes(object))) named.push({ field: "externalId", value: externalId });
  // What may be of a catalogue is judged when it is sent: then that has been read.
  named.push(...desired.mentions.filter(({ catalogue }) => catalogue === undefined));
  const foreign =
    named.find((mention) => !owner.has(mention, parents)) ?? (begun && handedOver(objects, object, desired, begun));
  return foreign && refusal(foreign, object, account);
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
    if (catalogue === undefined || !sent.includes(value) || owner.has(mention, {})) continue;
    const answer = await deps.catalogues.read(account.connection, urlOf(account, "core", catalogue));
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
    const object = objects.find(key)?.object;
    const claim = object && !observes(object) ? objects.owned(key) : undefined;
    // An Account of the namespace may lead anywhere, to somebody who makes up what is there as well.
    const isSame = contractNumber !== undefined && claim?.contract === contractNumber && isShared(claim.account);
    return claim?.account === account.key || isSame ? claim : undefined;
  };
  const hasId = (id: string) => objects.holders(namespace, id).some((key) => owned(key)?.id === id);
  const hasPart = ({ kind, isIn }: NonNullable<Mention["part"]>) =>
    [...objects.store(kind).values()].some(
      (other) =>
        other.metadata.namespace === namespace &&
        isIn(readWhole(other)) &&
        owned(objectKey(kind, namespace, other.metadata.name)),
    );
  return {
    has({ value, part, within }: Mention, parents: Inputs["parents"]): boolean {
      if (within !== undefined) return hasId(parents[within] ?? "");
      return part ? hasPart(part) : hasId(value);
    },
  };
}

/** What the resource lives in, and what an object of another namespace has by now. */
function handedOver(
  objects: Objects,
  { metadata: { namespace = "" } }: KubeObject,
  { references }: Desired,
  { parents, endpoint }: Claim | Intent,
): Mention | undefined {
  const lost = references.find(({ role, kind }) => {
    const id = parents[role];
    const place = { id: id ?? "", parents, ...(endpoint !== undefined && { endpoint }) };
    return id !== undefined && objects.claimants(kind, place).some((key) => key.split("/")[1] !== namespace);
  });
  return lost && { field: lost.field, value: parents[lost.role] ?? "" };
}

/** What a reference leads to, in the platform's words; nothing, as long as there is nothing behind a name. */
function mentioned(objects: Objects, { metadata }: KubeObject, { kind, field, target }: Reference): Mention[] {
  if ("id" in target) return [{ field: field.replace(/Ref$/, "Id"), value: target.id }];
  const claim = objects.owned(objectKey(kind, metadata.namespace ?? "", target.name));
  return claim ? [{ field, value: claim.id }] : [];
}

/** The same words whether it exists or not. */
function refusal({ field, value }: Mention, { metadata }: KubeObject, { key }: AccountHandle): Obstacle {
  const message = `${field}: no object of namespace ${metadata.namespace} has ${value}, and ${titleOf(key)} leads to nothing else: name an object, or ask the administrator for adoption: Any`;
  return { reason: "NotYours", message, stalled: true };
}
