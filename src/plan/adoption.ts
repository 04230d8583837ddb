import { addressOf } from "../engine/accounts/accounts.ts";
import type { Context } from "../engine/observe/view.ts";
import { type ObjectKey, observes } from "../engine/state/object.ts";
import type { ResourceKind } from "../kinds/kind.ts";
import type { FieldChange, PlanItem } from "./item.ts";
import { driftOf } from "./outcome.ts";
import { project } from "./projection.ts";
import { withValues } from "./spec-changes.ts";
import type { Stage } from "./stage.ts";

/** The item of an adoption, after a comparison of the adopted resource with spec. */
export async function adopted(
  stage: Stage,
  readable: (change: FieldChange) => FieldChange,
  key: ObjectKey,
  kind: ResourceKind,
  context: Context,
  item: PlanItem,
): Promise<PlanItem> {
  const id = context.view.spec.adopt ?? item.id;
  const { account, inputs } = context;
  if (id === undefined || !account || !inputs || context.view.spec.obstacle) return item;
  const observed = observes(context.object);
  const place = { id, parents: inputs.parents, endpoint: addressOf(account, kind.resource.place.product) };
  const rival = stage.objects.claimants(kind.kind, place).find((each) => each !== key);
  if (rival !== undefined && !observed && !kind.resource.identity.shared) {
    return { ...item, action: "blocked", writes: false, message: `${kind.kind} ${id} belongs to ${rival}` };
  }
  const claimed = project(stage, kind, context.object, context, id);
  const next = await stage.decide(key, kind, claimed);
  const { observation } = next.context.view.resource;
  // Objects that refer to it see its values on the platform.
  const raw = next.context.shared?.collection.read(next.context.identity).item?.raw;
  if (raw !== undefined) project(stage, kind, context.object, context, id, raw);
  if (observation.seen === "absent") {
    const message = `there is no ${kind.kind} ${id} on the platform under this Account and these parents`;
    return { ...item, action: "blocked", writes: false, message };
  }
  const fields = driftOf(next.context).map(readable);
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
  if (next.decision.step === "stall" || next.decision.step === "wait") {
    return { ...compared, writes: false, message: next.decision.message };
  }
  return { ...compared, writes: next.decision.step === "update" };
}
