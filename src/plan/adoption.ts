import { addressOf } from "../engine/accounts/accounts.ts";
import type { Context } from "../engine/observe/view.ts";
import { type ObjectKey, observes } from "../engine/state/object.ts";
import { misfits, misfitsInWords, notThere } from "../kinds/fields/compare.ts";
import { messageOf } from "../kinds/fields/words-of-spec.ts";
import type { ResourceKind } from "../kinds/kind.ts";
import type { Part } from "../kinds/parts.ts";
import { partsOf, partTaken } from "../kinds/places.ts";
import { birthOf } from "../platform/collections/numbered.ts";
import type { FieldChange, PlanItem } from "./item.ts";
import { project } from "./projection.ts";
import { withValues } from "./spec-changes.ts";
import type { Stage } from "./stage.ts";

/** The item of an adoption: as the operator, it reads the resource, its owner and its differences from spec first. */
export async function adopted(
  stage: Stage,
  readable: (change: FieldChange) => FieldChange,
  key: ObjectKey,
  kind: ResourceKind,
  context: Context,
  item: PlanItem,
): Promise<PlanItem> {
  const wanted = context.view.spec.adopt ?? item.id;
  const { account, inputs, desired } = context;
  if (!account || !inputs || !desired || context.view.spec.obstacle) return item;
  const read = await stage.find(context, wanted).then(
    (found) => ({ found }),
    (error: unknown) => ({ problem: messageOf(error) }),
  );
  if ("problem" in read) return { ...item, message: `not compared with the platform: ${read.problem}` };
  const { found } = read;
  const blocked = { ...item, action: "blocked", writes: false } as const;
  if (!found) {
    const message = `NotAdoptable: ${notThere(kind.kind, wanted, inputs.parents)}`;
    return { ...blocked, ...(wanted !== undefined && { id: wanted }), message };
  }
  const id = wanted ?? found.id;
  const refused = (why: string): PlanItem => ({ ...blocked, id, message: `NotAdoptable: ${kind.kind} ${id} ${why}` });
  const observed = observes(context.object);
  const place = { id, parents: inputs.parents, endpoint: addressOf(account, kind.resource.place.product) };
  // Claims of a number may lack its creation date.
  const rival = [birthOf(kind.resource.identity, found.raw), undefined]
    .flatMap((born) => stage.objects.claimants(kind.kind, { ...place, born }))
    .find((each) => each !== key);
  if (rival !== undefined && !observed && !kind.resource.identity.shared) return refused(`belongs to ${rival}`);
  const isOthers = ({ kind: type, id }: Part) =>
    stage.objects.claimants(type, { ...place, id, born: undefined }).some((each) => each !== key);
  const facts = () => kind.resource.comparison.facts(found.raw, inputs);
  const part = observed ? undefined : partsOf(kind, context.object.spec, facts).find(isOthers);
  if (part) return refused(partTaken(part));
  const { drift } = desired.compare(found.raw, { ...inputs, adopted: true });
  const unfit = observed ? [] : misfits(kind, drift);
  if (unfit.length > 0) return refused(`is not adopted: ${misfitsInWords(unfit)}`);
  // Objects that refer to it see its values on the platform.
  const claimed = project(stage, kind, context.object, context, id, found);
  const { decision } = await stage.decide(key, kind, claimed);
  const fields = drift.map((each) =>
    readable({ field: each.field, from: each.found, to: each.wanted, platform: true }),
  );
  const { spec } = context.object;
  const before = withValues(
    spec,
    fields.map(({ field, from }) => ({ field, value: from })),
  );
  const compared = { ...item, id, before, spec: observed ? before : spec, fields: observed ? [] : fields };
  if (observed) {
    const differs = fields.length > 0 ? `; differs in ${fields.map(({ field }) => field).join(", ")}` : "";
    return { ...compared, writes: false, message: `only observed, never changed${differs}` };
  }
  if (decision.step === "stall" || decision.step === "wait") {
    return { ...compared, writes: false, message: decision.message };
  }
  return { ...compared, writes: decision.step === "update" };
}
