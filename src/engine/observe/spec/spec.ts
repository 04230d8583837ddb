import type { Desired, Inputs } from "../../../kinds/desired.ts";
import { lackingProblem } from "../../../kinds/fields/lacking.ts";
import { messageOf } from "../../../kinds/fields/words-of-spec.ts";
import { isWanted } from "../../../kinds/kind.ts";
import type { KubeObject } from "../../../kube/resource.ts";
import type { Item } from "../../../platform/collections/collection.ts";
import { type AccountHandle, lackOfAddress } from "../../accounts/accounts.ts";
import { isPaused, recreateAsked } from "../../state/annotations.ts";
import { claimOf, nameFor, namespaceOf, type ObjectKey, observes, openIntent } from "../../state/object.ts";
import { policiesOf, recreatePolicyOf } from "../../state/policies.ts";
import type { Obstacle } from "../../status/reasons.ts";
import { factsOf, readFacts } from "../../status/status.ts";
import { knownAddress } from "../account.ts";
import type { Deps } from "../deps.ts";
import { effectOf } from "../resource/pending-request.ts";
import type { PendingRequest, SpecView, Subject } from "../view.ts";
import { checkedAs, isUnchecked, outdatedSources, replacement } from "./fixed-fields.ts";
import { notYours } from "./ownership.ts";
import { notGranted, type References, resolveReferences, unresolved } from "./references.ts";

/** Spec with its references followed. */
interface ResolvedSpec {
  inputs?: Inputs;
  parents: Inputs["parents"] | undefined;
  obstacle?: Obstacle | undefined;
}

/** Follows the references of spec. A resource that is claimed or being created keeps its parents. */
export function resolveSpec({ objects, spending }: Deps, subject: Subject): ResolvedSpec {
  const { key, kind, object, status, memory, desired, claim, intent, adopt } = subject;
  const kept = (claim ?? intent)?.parents;
  if (!desired) return { parents: kept, obstacle: subject.unreadable };
  const resolved = resolveReferences(objects, object, desired, kept);
  if ("obstacle" in resolved) return { parents: kept, obstacle: resolved.obstacle };
  const inputs = { ...inputsOf(object, resolved.value), ...(adopt !== undefined && { adopted: true }) };
  const { parents } = inputs;
  if (observes(object)) return { inputs, parents };
  const outdated = outdatedSources(kind, desired, inputs, status);
  const checked = memory.checked?.what === checkedAs(desired) ? memory.checked?.facts : {};
  return { inputs: { ...inputs, outdated, shown: { ...inputs.shown, ...checked, ...spending.of(key) } }, parents };
}

/** The inputs of a comparison, and those of a creation apart from Secrets and lookups. */
export const inputsOf = (object: KubeObject, references: Omit<References, "abroad">): Inputs => ({
  ...references,
  name: object.metadata.name,
  observed: observes(object),
  adopted: claimOf(object)?.adoptedAt !== undefined,
  secrets: {},
  found: {},
  shown: factsOf(object),
  spec: object.spec,
  annotations: object.metadata.annotations ?? {},
});

/** The desired state of the object, and why it cannot be reached. `foreign` is a reference to something of another namespace. */
export function observeSpec(
  deps: Deps,
  subject: Subject,
  account: AccountHandle | undefined,
  resolved: ResolvedSpec,
  { request, item }: { request: PendingRequest | undefined; item: Item | undefined },
): { view: SpecView; inputs: Inputs | undefined; foreign: Obstacle | undefined } {
  const { kind, object, status, memory, desired, claim, adopt } = subject;
  const { metadata } = object;
  const { marks } = request ?? {};
  const shown = { ...resolved.inputs?.shown, ...effectOf(request) };
  const inputs = resolved.inputs && { ...resolved.inputs, shown, ...(marks && { marks }) };
  const foreign = inputs && notYours(deps, subject, inputs, account);
  const obstacle =
    resolved.obstacle ??
    foreign ??
    (desired && inputs && (unfit(desired, inputs) ?? unreachable(desired, account))) ??
    (inputs && taken(deps, subject, inputs, account));
  const changed = replacement(subject, item && resolved.inputs && { raw: item.raw, inputs: resolved.inputs });
  const asked = claim?.id ?? status.refused;
  const isAsked = asked !== undefined && recreateAsked(object).includes(asked);
  const view: SpecView = {
    deleting: metadata.deletionTimestamp !== undefined,
    paused: isPaused(object),
    terminating: deps.namespaces.isTerminating(metadata.namespace ?? ""),
    deletionPolicy: policiesOf(object).deletionPolicy,
    recreatePolicy: recreatePolicyOf(kind, object),
    recreateAsked: isAsked,
    observed: observes(object),
    adopt,
    unwanted: desired !== undefined && !isWanted(kind, desired, metadata.name),
    unchecked: desired !== undefined && isUnchecked(desired, inputs?.outdated, memory),
    replacement: changed,
    obstacle,
    lacking:
      invalid(lackingProblem(kind, object.spec, readFacts(object), isAsked || changed ? undefined : claim)) ??
      (changed && unresolved(deps.objects, subject)),
    ungranted: desired && notGranted(deps.objects, object, desired),
  };
  return { view, inputs, foreign };
}

/** Values in spec that are invalid together with what spec refers to. */
export function unfit(desired: Desired, inputs: Inputs): Obstacle | undefined {
  try {
    return invalid(desired.problem(inputs));
  } catch (error) {
    return invalid(messageOf(error));
  }
}

const invalid = (problem: string | undefined): Obstacle | undefined =>
  problem === undefined ? undefined : { reason: "InvalidSpec", message: problem };

/** The Account has no address of the catalogue that spec names an entry of. */
const unreachable = ({ check }: Desired, account: AccountHandle | undefined): Obstacle | undefined =>
  check && lackOfAddress(() => account?.endpoint(check.endpoint));

/** Another object has the only place there is. Once a creation has begun, the platform decides. */
function taken(deps: Deps, subject: Subject, { parents }: Inputs, account?: AccountHandle): Obstacle | undefined {
  const { objects, accounts } = deps;
  const { key, claim, intent } = subject;
  const { kind, resource } = subject.kind;
  const { onePer } = resource.identity;
  if (onePer === undefined || claim || intent || !account || observes(subject.object)) return undefined;
  const { product } = resource.place;
  const { contractNumber } = account.connection;
  const hasIt = (neighbour: ObjectKey) => {
    const object = objects.find(neighbour)?.object;
    const theirs = object && accounts.get((claimOf(object) ?? openIntent(object))?.account ?? "");
    if (!theirs || theirs.key === account.key) return theirs !== undefined;
    const address = knownAddress(theirs, product);
    const isSame = theirs.connection.contractNumber === contractNumber && address === knownAddress(account, product);
    return isSame && address !== undefined;
  };
  const other = objects.neighbours(kind, parents).find((each) => each !== key && hasIt(each));
  if (other === undefined) return undefined;
  const message = `only one ${kind} per ${onePer}; already used by ${nameFor(namespaceOf(key), other)}: this object has no resource and can be deleted`;
  return { reason: "OnlyOne", message };
}
