import type { Again } from "../../kube/queue/work.ts";
import type { Item } from "../../platform/collections/collection.ts";
import { type Deps, readLimit } from "../look/deps.ts";
import { fixedFields } from "../look/fixed.ts";
import type { Scene } from "../look/view.ts";
import { confirmedBirth } from "../objects/identity.ts";
import { nameFor } from "../objects/object.ts";
import { located, record, reject, withWritten } from "../record/record.ts";
import { writeMetadata } from "../record/write.ts";
import type { Standing } from "../schema/status.ts";

/**
 * Takes over an existing resource: it has to be in the collection that spec describes, and nobody else's. The claim and
 * every difference are on record before anything is changed.
 */
export async function adopt(deps: Deps, scene: Scene, named: string | undefined): Promise<Again> {
  const { kind, key, object, account, inputs, desired } = scene;
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
  const seen = item && !scene.view.observed ? { id, raw: item.raw } : undefined;
  const born = seen && (await confirmedBirth(kind, shared, seen, signal));
  const exclusive = !scene.view.observed && !kind.resource.identity.shared;
  const { endpoint } = located(account, kind);
  const claimants = deps.objects.claimants(kind.kind, { id, parents, endpoint, ...(born !== undefined && { born }) });
  const { adopters } = deps.memories;
  const place = `${kind.kind}/${id}`;
  const rival = [...claimants, adopters.get(place)].find((each) => each !== undefined && each !== key);
  const absent =
    named === undefined ? `the platform has no such ${kind.kind}` : `externalId: there is no ${kind.kind} ${named}`;
  const taken = `${named === undefined ? "" : "externalId: "}${kind.kind} ${id} belongs to ${nameFor(object.metadata.namespace, rival ?? "")}`;
  const problem = !item ? `${absent} in ${shared.path}` : rival !== undefined && exclusive ? taken : undefined;
  if (!item || problem !== undefined) {
    return reject(deps, scene, { reason: "NotAdoptable", message: problem ?? "" });
  }
  const { drift } = desired.compare(item.raw, inputs);
  const owned = { id, parents, account: account.key, ...located(account, kind), ...(born && { born }) };
  const differences = drift.length > 0 ? `; differs in ${drift.map(({ field }) => field).join(", ")}` : "";
  const standing: Standing = scene.view.observed
    ? { mode: "reconciling", reason: "Observing", message: `observing ${kind.kind} ${id}${differences}` }
    : { mode: "reconciling", reason: "Adopting", message: `adopting ${kind.kind} ${id}${differences}` };
  const facts = kind.resource.comparison.facts(item.raw, inputs);
  deps.guard();
  // One that only observes takes nothing from anybody. Once it is written, the claim itself keeps others away.
  if (exclusive) adopters.set(place, key);
  let after = scene;
  try {
    // What is to be given back as it was: that is on record before anything allows to change it.
    const noted = kind.resource.identity.permanent ? await record(deps, scene, standing, {}, facts) : object;
    after = withWritten(scene, await writeMetadata(deps, kind, noted, { claim: owned }));
  } finally {
    if (adopters.get(place) === key) adopters.delete(place);
  }
  const found = { ...owned, fixed: fixedFields(kind, object), state: item.state, ...(drift.length > 0 && { drift }) };
  await record(deps, after, standing, found, facts);
  const reason = scene.view.observed ? "Observed" : "Adopting";
  deps.events.record(after.object, "Normal", reason, standing.message);
  return "now";
}
