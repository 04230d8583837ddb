import type { Drift } from "../../kinds/desired.ts";
import type { Requeue } from "../../kube/queue/work.ts";
import type { Item } from "../../platform/collections/collection.ts";
import { type Deps, readLimit } from "../observe/deps.ts";
import { fixedFields } from "../observe/fixed-fields.ts";
import { misfits } from "../observe/unowned.ts";
import type { Context } from "../observe/view.ts";
import { confirmedBirth } from "../state/identity.ts";
import { claimOf, nameFor, type ObjectKey } from "../state/object.ts";
import { policiesOf } from "../state/policies.ts";
import type { ReadyState } from "../status/status.ts";
import { located, record, recordFailure, withWritten } from "../write/record.ts";
import { writeMetadata } from "../write/write.ts";

/**
 * Takes over an existing resource, also one that the object has only observed: it has to be in the collection that spec
 * describes, nobody else's, and what spec asks for as far as nobody can change it. The claim and every difference are on record
 * before anything is changed.
 */
export async function adopt(deps: Deps, context: Context, named: string | undefined): Promise<Requeue> {
  const { kind, key, object, account, inputs, desired, view } = context;
  if (!account || !inputs || !desired) return "now";
  const { parents } = inputs;
  const shared = deps.collections.join(key, account, kind, parents, undefined);
  const signal = readLimit();
  const isNamed = ({ id, raw }: Item) => (named === undefined ? desired.isMeant(raw) : id === named);
  // What is always there is few, and may be shown by its list alone.
  const item =
    named === undefined || kind.resource.identity.permanent
      ? (await shared.source.list(signal, "people")).find(isNamed)
      : await shared.source.get?.(named, signal);
  const id = named ?? item?.id ?? "";
  const seen = item && !view.observed ? { id, raw: item.raw } : undefined;
  const born = seen && (await confirmedBirth(kind, shared, seen, signal));
  const exclusive = !view.observed && !kind.resource.identity.shared;
  const { endpoint } = located(account, kind);
  // What others claim of a number may not say when that was made.
  const claimants = [born, undefined].flatMap((each) =>
    deps.objects.claimants(kind.kind, { id, parents, endpoint, born: each }),
  );
  const { adopters } = deps.memories;
  const place = `${kind.kind}/${id}`;
  const rival = [...claimants, adopters.get(place)].find((each) => each !== undefined && each !== key);
  const field = named === undefined ? "" : `${policiesOf(object).externalId === named ? "externalId" : "status.id"}: `;
  const what = named === undefined ? `such ${kind.kind}` : `${kind.kind} ${named}`;
  if (!item) {
    const message = `${field}there is no ${what} in ${shared.path}`;
    return recordFailure(deps, context, { reason: "NotAdoptable", message }, { changes: { drift: undefined } });
  }
  if (rival !== undefined && exclusive) return yieldTo(deps, context, rival, { id, field });
  const { drift } = desired.compare(item.raw, { ...inputs, adopted: true });
  const unfit = view.observed ? [] : misfits(kind, drift);
  if (unfit.length > 0) return leave(deps, context, { id, field, drift, unfit });
  const held = view.observed
    ? { onlyObserved: true, adoptedAt: undefined }
    : { onlyObserved: undefined, adoptedAt: new Date(view.platformNow).toISOString() };
  const owned = { id, parents, account: account.key, ...located(account, kind), born, ...held };
  const differences = drift.length > 0 ? `; differs in ${drift.map(({ field }) => field).join(", ")}` : "";
  const standing: ReadyState = view.observed
    ? { mode: "reconciling", reason: "Observing", message: `observing ${kind.kind} ${id}${differences}` }
    : { mode: "reconciling", reason: "Adopting", message: `adopting ${kind.kind} ${id}${differences}` };
  const facts = kind.resource.comparison.facts(item.raw, inputs);
  deps.guard();
  // One that only observes takes nothing from anybody. Once it is written, the claim itself keeps others away.
  if (exclusive) adopters.set(place, key);
  let after = context;
  try {
    // What is to be given back as it was: that is on record before anything allows to change it.
    const noted = kind.resource.identity.permanent ? await record(deps, context, standing, {}, facts) : object;
    after = withWritten(context, await writeMetadata(deps, kind, noted, { claim: owned }));
  } finally {
    if (adopters.get(place) === key) adopters.delete(place);
  }
  const found = {
    ...owned,
    fixed: fixedFields(kind, object),
    state: item.state,
    drift: drift.length > 0 ? drift : undefined,
  };
  await record(deps, after, standing, found, facts);
  const reason = view.observed ? "Observed" : "Adopting";
  deps.events.record(after.object, "Normal", reason, standing.message);
  return "now";
}

/** Spec asks for what the resource can never be: it is not taken, and spec can be corrected. */
function leave(
  deps: Deps,
  context: Context,
  { id, field, drift, unfit }: { id: string; field: string; drift: Drift[]; unfit: Drift[] },
): Promise<Requeue> {
  const { kind } = context.kind;
  const values = unfit.map(
    (each) => `${each.field} is ${each.found || "empty"} on the platform and ${each.wanted || "empty"} in spec`,
  );
  const [them, fields] = unfit.length > 1 ? ["them", "the fields"] : ["it", "the field"];
  const message = `${field}${kind} ${id} is not adopted: ${values.join("; ")}, and the platform cannot change ${them}: correct spec, or remove ${fields}. Until then the ${kind} is left as it is, also when this object is deleted`;
  const said = claimOf(context.object);
  const changes = { drift, ...(said && { ...said, onlyObserved: true }) };
  return recordFailure(deps, context, { reason: "NotAdoptable", message }, { changes });
}

/** What another object has is left to it. Who has said that it has it, too, owns nothing of it from then on, and both are told. */
async function yieldTo(
  deps: Deps,
  context: Context,
  rival: ObjectKey,
  { id, field }: { id: string; field: string },
): Promise<Requeue> {
  const { key, kind, object, memory } = context;
  const said = claimOf(object);
  const holder = deps.objects.find(rival)?.object;
  if (said && holder && !memory.failure) {
    const other = nameFor(holder.metadata.namespace, key);
    const message = `${kind.kind} ${id} is also claimed by ${other}, which does not get it: it stays with this object`;
    deps.events.record(holder, "Warning", "NotAdoptable", message);
  }
  const owner = nameFor(object.metadata.namespace, rival);
  const way = said ? `; this object owns nothing: deleting it leaves the ${kind.kind} as it is` : "";
  const message = `${field}${kind.kind} ${id} belongs to ${owner}${way}`;
  return recordFailure(
    deps,
    context,
    { reason: "NotAdoptable", message },
    {
      changes: said ? { ...said, onlyObserved: true } : {},
    },
  );
}
