import { objectOf } from "../engine/accounts/accounts.ts";
import { fixedFields } from "../engine/observe/fixed-fields.ts";
import type { Context } from "../engine/observe/view.ts";
import { FINALIZER } from "../engine/state/names.ts";
import { type ObjectKey, objectKey, observes } from "../engine/state/object.ts";
import { hasResource, type ResourceKind } from "../kinds/kind.ts";
import type { KubeObject } from "../kube/resource.ts";
import type { PlanItem } from "./item.ts";
import { baseOf, type Candidate, driftOf, itemOf, objectItem, refusal } from "./outcome.ts";
import { placeholders } from "./placeholders.ts";
import { withValues } from "./spec-changes.ts";
import type { Stage } from "./stage.ts";

const keyTo = ({ kind, metadata }: KubeObject): ObjectKey => objectKey(kind, metadata.namespace ?? "", metadata.name);

/**
 * What the operator would do for each candidate, all others as they are. Every candidate is decided on after those it refers to:
 * an object that is to be created counts as there for those that follow, under an id that is not known yet.
 */
export async function planAll(
  stage: Stage,
  candidates: readonly Candidate[],
  progress: (done: number) => void = () => {},
): Promise<PlanItem[]> {
  const unknown = placeholders();
  const items = new Map<ObjectKey, PlanItem>();
  const byKey = new Map<ObjectKey, Candidate>();
  for (const each of candidates) {
    const object = each.desired ?? each.live;
    if (!object) continue;
    byKey.set(keyTo(object), each);
    stage.put(each.desired ?? leaving(object));
  }
  // All collections are listed side by side.
  for (const [key, { kind }] of byKey) {
    const found = stage.objects.find(key);
    if (found && hasResource(kind)) stage.begin(kind, found.object);
  }
  for (const key of byKey.keys()) await visit(key, new Set());
  return [...byKey.keys()].flatMap((key) => items.get(key) ?? []);

  async function visit(key: ObjectKey, trail: Set<ObjectKey>): Promise<void> {
    const candidate = byKey.get(key);
    const found = stage.objects.find(key);
    if (!candidate || !found || items.has(key) || trail.has(key)) return;
    trail.add(key);
    const named = stage.objects.named(found.kind, found.object).map((each) => each.key);
    if (candidate.desired) for (const each of named) await visit(each, trail);
    items.set(key, await planOne(key, candidate, named));
    progress(items.size);
  }

  async function planOne(key: ObjectKey, candidate: Candidate, named: readonly ObjectKey[]): Promise<PlanItem> {
    const { kind, live, desired, refused } = candidate;
    const base = baseOf(candidate);
    if (refused !== undefined) return refusal(candidate, base, refused);
    if (!hasResource(kind)) return objectItem(base, live, desired);
    const found = stage.objects.find(key)?.object;
    if (!found) return base;
    const { context, decision } = await stage.decide(key, kind, found);
    const account = context.accountKey === undefined ? [] : [objectOf(context.accountKey)];
    const first = [...account, ...named].filter((each) => comesFirst(items.get(each)));
    const item = itemOf({ base, candidate, context, decision, first });
    if (item.action === "adopt") return adopted(key, kind, context, item);
    if (item.action === "create" || (item.action === "replace" && item.replacement?.allowed)) {
      project(kind, found, context, unknown.next(kind, found));
    }
    return { ...item, fields: item.fields.map(unknown.named) };
  }

  /** The resource as it would be compared once it is taken over. */
  async function adopted(key: ObjectKey, kind: ResourceKind, context: Context, item: PlanItem): Promise<PlanItem> {
    const id = context.view.adopt ?? item.id;
    const { account, inputs } = context;
    if (id === undefined || !account || !inputs || context.view.specObstacle) return item;
    const observed = observes(context.object);
    const rival = stage.objects
      .claimants(kind.kind, { id, parents: inputs.parents, endpoint: undefined })
      .find((each) => each !== key);
    if (rival !== undefined && !observed && !kind.resource.identity.shared) {
      return { ...item, action: "blocked", writes: false, message: `${kind.kind} ${id} belongs to ${rival}` };
    }
    const claimed = project(kind, context.object, context, id);
    const next = await stage.decide(key, kind, claimed);
    const { observation } = next.context.view;
    // Those that refer to it see what the platform shows of it.
    const raw = next.context.shared?.collection.read(next.context.identity).item?.raw;
    if (raw !== undefined) project(kind, context.object, context, id, raw);
    if (observation.seen === "absent") {
      const message = `there is no ${kind.kind} ${id} on the platform under this Account and these parents`;
      return { ...item, action: "blocked", writes: false, message };
    }
    const fields = driftOf(next.context).map(unknown.named);
    const { spec } = context.object;
    const before = withValues(
      spec,
      fields.map(({ field, from }) => ({ field, value: from })),
    );
    const told = { ...item, id, before, spec: observed ? before : spec, fields: observed ? [] : fields };
    if (observed) {
      const differs = fields.length > 0 ? `; differs in ${fields.map(({ field }) => field).join(", ")}` : "";
      return { ...told, writes: false, message: `only observed, never changed${differs}` };
    }
    if (next.decision.step === "stall" || next.decision.step === "wait") {
      return { ...told, writes: false, message: next.decision.message };
    }
    return { ...told, writes: next.decision.step === "update" };
  }

  /** Puts an object on the stage as it is once its resource is there. */
  function project(kind: ResourceKind, object: KubeObject, context: Context, id: string, raw?: unknown): KubeObject {
    const { account, inputs, desired } = context;
    const shownAs = (): object => {
      try {
        if (!desired || !inputs) return {};
        return kind.resource.comparison.facts(raw ?? { id, ...Object(desired.body(inputs)) }, inputs);
      } catch {
        return {};
      }
    };
    const status = {
      ...shownAs(),
      id,
      parents: inputs?.parents ?? {},
      account: account?.key ?? context.accountKey ?? "",
      conditions: [
        { type: "Ready", status: "True", reason: "Available", message: "", lastTransitionTime: "1970-01-01T00:00:00Z" },
      ],
      internal: { nonce: "plan", fixed: fixedFields(kind, object) },
    };
    const { annotations, ...metadata } = object.metadata;
    const own = Object.entries(annotations ?? {}).filter(([name]) => !/\/(intent|external-id)$/.test(name));
    const projected = {
      ...object,
      metadata: { ...metadata, annotations: Object.fromEntries(own), finalizers: [FINALIZER] },
      status,
    };
    stage.put(projected);
    return stage.objects.find(keyTo(object))?.object ?? projected;
  }
}

const leaving = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp: object.metadata.deletionTimestamp ?? new Date(0).toISOString() },
});

const comesFirst = (item: PlanItem | undefined): boolean =>
  item !== undefined && item.action !== "none" && item.action !== "change";
