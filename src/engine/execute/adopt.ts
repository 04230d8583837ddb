import type { Drift } from "../../kinds/desired.ts";
import { misfits, misfitsInWords, notThere } from "../../kinds/fields/compare.ts";
import type { Part } from "../../kinds/parts.ts";
import { partsOf, partTaken } from "../../kinds/places.ts";
import type { Requeue } from "../../kube/queue/work.ts";
import { patch } from "../../kube/write/apply.ts";
import type { Item } from "../../platform/collections/collection.ts";
import { confirmedBirth } from "../../platform/collections/numbered.ts";
import { type Deps, readLimit } from "../observe/deps.ts";
import { fixedFields } from "../observe/spec/fixed-fields.ts";
import type { Context } from "../observe/view.ts";
import { withAdoption } from "../state/adoptions.ts";
import type { Claim } from "../state/intent.ts";
import { claimOf, nameFor, type ObjectKey, resourceOf } from "../state/object.ts";
import { policiesOf } from "../state/policies.ts";
import type { ReadyState } from "../status/status.ts";
import { located, record, recordFailure, withWritten } from "../write/record.ts";
import { writeMetadata } from "../write/write.ts";

/**
 * Adopts an existing resource, also one that the object has only observed. It must be in the collection that spec names,
 * belong to no other object, and match spec in all fields that cannot be changed. The claim and the drift are recorded
 * before anything is changed.
 */
export async function adopt(deps: Deps, context: Context, named: string | undefined): Promise<Requeue> {
  const { kind, key, object, account, inputs, desired, view } = context;
  if (!account || !inputs || !desired) return "now";
  const { observed } = view.spec;
  const { permanent, shared: isShareable } = kind.resource.identity;
  const { parents } = inputs;
  const shared = deps.collections.join(key, { account, kind, parents });
  const signal = readLimit();
  const isNamed = ({ id, raw }: Item) => (named === undefined ? desired.isMeant(raw) : id === named);
  // Permanent resources are few, and some products show them only in the list.
  const item =
    named === undefined || permanent
      ? (await shared.source.list(signal, "people")).find(isNamed)
      : await shared.source.get?.(named, signal);
  const id = named ?? item?.id ?? "";
  const seen = item && !observed ? { id, raw: item.raw } : undefined;
  const born = seen && (await confirmedBirth(shared, seen, signal));
  const exclusive = !observed && !isShareable;
  const { endpoint } = located(account, kind);
  // Claims of a number may lack its creation date.
  const claimants = [born, undefined].flatMap((each) =>
    deps.objects.claimants(kind.kind, { id, parents, endpoint, born: each }),
  );
  const { adopters } = deps.memories;
  const place = `${kind.kind}/${id}`;
  const rival = [...claimants, adopters.get(place)].find((each) => each !== undefined && each !== key);
  const field = named === undefined ? "" : `${policiesOf(object).externalId === named ? "externalId" : "status.id"}: `;
  const title = `${field}${kind.kind} ${id}`;
  if (!item) {
    const message = `${field}${notThere(kind.kind, named, parents)}`;
    return recordFailure(deps, context, { reason: "NotAdoptable", message }, { drift: undefined });
  }
  if (rival !== undefined && exclusive) return yieldTo(deps, context, rival, id, title);
  const facts = kind.resource.comparison.facts(item.raw, { ...inputs, platformNow: view.times.platformNow });
  const isOthers = (part: Part) =>
    deps.objects.claimants(part.kind, { ...part, parents, endpoint }).some((each) => each !== key);
  const part = exclusive ? partsOf(kind, object.spec, () => facts).find(isOthers) : undefined;
  if (part) return recordFailure(deps, context, { reason: "NotAdoptable", message: `${title} ${partTaken(part)}` });
  const { drift } = desired.compare(item.raw, { ...inputs, adopted: true });
  const unfit = observed ? [] : misfits(kind, drift);
  if (unfit.length > 0) return refuse(deps, context, title, drift, unfit);
  const held = observed
    ? { onlyObserved: true, adoptedAt: undefined }
    : { onlyObserved: undefined, adoptedAt: new Date(view.times.platformNow).toISOString() };
  const { revision = context.status.revision } = claimOf(object) ?? {};
  const owned = { id, parents, account: account.key, ...located(account, kind), born, ...held, revision };
  const differences = drift.length > 0 ? `; differs in ${drift.map(({ field }) => field).join(", ")}` : "";
  const [reason, doing] = observed ? (["Observing", "observing"] as const) : (["Adopting", "adopting"] as const);
  const message = `${doing} ${kind.kind} ${id}${differences}`;
  const condition: ReadyState = { mode: "reconciling", reason, message };
  deps.guard();
  // Until the claim is written, this keeps other objects from adopting the resource.
  if (exclusive) adopters.set(place, key);
  let after = context;
  try {
    if (exclusive && !permanent) await recordAdoption(deps, kind.kind, owned);
    // A permanent resource is restored in the end: its state is recorded before the claim allows changes.
    const noted = permanent ? await record(deps, context, condition, {}, facts) : object;
    after = withWritten(context, await writeMetadata(deps, kind, noted, { claim: owned }));
  } finally {
    if (adopters.get(place) === key) adopters.delete(place);
  }
  const shown = { fixed: fixedFields(kind, object), state: item.state, drift: drift.length > 0 ? drift : undefined };
  await record(deps, after, condition, { ...owned, ...shown }, facts);
  deps.events.record(after.object, "Normal", observed ? "Observed" : "Adopting", message);
  return "now";
}

/** Records an adoption through a ClusterAccount there: earlier claims are void from then on, whatever becomes of this object. */
async function recordAdoption(deps: Deps, kind: string, { adoptedAt, ...claim }: Claim): Promise<void> {
  const { client, objects } = deps;
  const { kind: type, object } = objects.find(claim.account) ?? {};
  if (!type || !object || adoptedAt === undefined) return;
  const { lost, ...change } = withAdoption(object, objects.placeOf(kind, claim), adoptedAt);
  objects.admit(type, await patch(client, resourceOf(type), object.metadata, change, "status"));
  if (lost === undefined) return;
  const message = `the record of adoptions is full, and that of ${lost} is forgotten: if the object that adopted then is deleted or restored, one that had the resource before owns it again; so delete objects whose resources were handed over, with deletionPolicy: Retain`;
  deps.events.record(object, "Warning", "Adopting", message);
}

/** Spec does not fit the resource: it is not adopted, so that spec can be corrected. */
function refuse(deps: Deps, context: Context, title: string, drift: Drift[], unfit: Drift[]): Promise<Requeue> {
  const { kind } = context.kind;
  const message = `${title} is not adopted: ${misfitsInWords(unfit)}. Until then the ${kind} is left as it is, also when its object is deleted`;
  const claimed = claimOf(context.object);
  const changes = { drift, ...(claimed && { ...claimed, onlyObserved: true }) };
  return recordFailure(deps, context, { reason: "NotAdoptable", message }, changes);
}

/** The resource belongs to another object. If this object claimed it too, it owns nothing, and both objects say so. */
function yieldTo(deps: Deps, context: Context, rival: ObjectKey, id: string, title: string): Promise<Requeue> {
  const { key, kind, object, memory } = context;
  const claimed = claimOf(object);
  const holder = deps.objects.find(rival)?.object;
  if (claimed && holder && !memory.failure) {
    const other = nameFor(holder.metadata.namespace, key);
    const message = `${kind.kind} ${id} is also claimed by ${other}, which does not get it: it stays with this object`;
    deps.events.record(holder, "Warning", "NotAdoptable", message);
  }
  const owner = nameFor(object.metadata.namespace, rival);
  const correction = policiesOf(object).externalId === id ? ": correct externalId; without it, another is created" : "";
  const way = claimed ? `; this object owns nothing: deleting it leaves the ${kind.kind} as it is` : correction;
  const message = `${title} belongs to ${owner}${way}`;
  const changes = claimed ? { ...claimed, onlyObserved: true } : {};
  return recordFailure(deps, context, { reason: "NotAdoptable", message }, changes);
}
