import type { Decision } from "../engine/decide/decision.ts";
import { fixedFields } from "../engine/look/fixed.ts";
import type { Scene } from "../engine/look/view.ts";
import { ALLOW_DATA_LOSS, FINALIZER } from "../engine/objects/names.ts";
import { type ObjectKey, objectKey, observes } from "../engine/objects/object.ts";
import { hasResource, type Kind, type ResourceKind } from "../kinds/kind.ts";
import type { KubeObject } from "../kube/resource.ts";
import type { Action, FieldChange, PlanItem, Replacement } from "./item.ts";
import { placeholders } from "./placeholders.ts";
import { specChanges, withValues } from "./spec-changes.ts";
import type { Stage } from "./stage.ts";

/** One object of a plan: as it is in the cluster, and as it would be after the apply. */
export interface Candidate {
  kind: Kind;
  live: KubeObject | undefined;
  /** With the status of the live object. Undefined: it is deleted. */
  desired: KubeObject | undefined;
  /** Why the API server refuses it. */
  refused?: string;
}

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
    const { scene, decision } = await stage.decide(key, kind, found);
    const first = named.filter((each) => comesFirst(items.get(each)));
    const item = itemOf({ base, candidate, scene, decision, first });
    if (item.action === "adopt") return adopted(key, kind, candidate, scene, item);
    if (item.action === "create" || (item.action === "replace" && item.replacement?.allowed)) {
      project(kind, found, scene, unknown.next(kind, found));
    }
    return { ...item, fields: item.fields.map(unknown.named) };
  }

  /** The resource as it would be compared once it is taken over. */
  async function adopted(
    key: ObjectKey,
    kind: ResourceKind,
    candidate: Candidate,
    scene: Scene,
    item: PlanItem,
  ): Promise<PlanItem> {
    const id = scene.view.adopt ?? item.id;
    const { account, inputs } = scene;
    if (id === undefined || !account || !inputs || scene.view.specObstacle) return item;
    const observed = observes(scene.object);
    const rival = stage.objects
      .claimants(kind.kind, { id, parents: inputs.parents, endpoint: undefined })
      .find((each) => each !== key);
    if (rival !== undefined && !observed && !kind.resource.identity.shared) {
      return { ...item, action: "blocked", writes: false, message: `${kind.kind} ${id} belongs to ${rival}` };
    }
    const claimed = project(kind, scene.object, scene, id);
    const next = await stage.decide(key, kind, claimed);
    const { observation } = next.scene.view;
    if (observation.seen === "absent") {
      const message = `there is no ${kind.kind} ${id} on the platform under this Account and these parents`;
      return { ...item, action: "blocked", writes: false, message };
    }
    const fields = driftOf(next.scene).map(unknown.named);
    const { spec } = scene.object;
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
  function project(kind: ResourceKind, object: KubeObject, scene: Scene, id: string): KubeObject {
    const { account, inputs, desired } = scene;
    const shownAs = (): object => {
      try {
        if (!desired || !inputs) return {};
        return kind.resource.comparison.facts({ id, ...Object(desired.body(inputs)) }, inputs);
      } catch {
        return {};
      }
    };
    const status = {
      ...shownAs(),
      id,
      parents: inputs?.parents ?? {},
      account: account?.key ?? scene.accountKey ?? "",
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

function baseOf({ kind, live, desired }: Candidate): PlanItem {
  const { metadata } = desired ?? live ?? { metadata: { name: "" } };
  const id: unknown = Reflect.get(Object(live?.status), "id");
  return {
    kind: kind.kind,
    namespace: metadata.namespace,
    name: metadata.name,
    action: "none",
    ...(typeof id === "string" && { id }),
    writes: false,
    fields: [],
    after: [],
    before: live?.spec,
    spec: desired?.spec,
  };
}

/** Of a kind without a resource: what becomes of the object itself. */
function objectItem(base: PlanItem, live: KubeObject | undefined, desired: KubeObject | undefined): PlanItem {
  if (!desired) return { ...base, action: "delete" };
  const fields = specChanges(live?.spec, desired.spec);
  if (!live) return { ...base, action: "create", fields };
  return fields.length > 0 ? { ...base, action: "change", fields } : base;
}

/** A change that is refused because the platform cannot make it is a replacement that has to be allowed. */
function refusal({ kind, live, desired }: Candidate, base: PlanItem, message: string): PlanItem {
  const fields = specChanges(live?.spec, desired?.spec);
  const fixed = Object.keys(kind.immutable).filter((name) =>
    fields.some(({ field }) => field === name || field.startsWith(`${name}.`)),
  );
  if (!live || fixed.length === 0 || !hasResource(kind)) return { ...base, action: "invalid", message };
  const why = [...new Set(fixed.map((field) => kind.immutable[field] ?? ""))];
  const replacement = { fields: fixed, why, loses: lossOf(kind), allowed: false, allowedBy: words(kind, "forbidden") };
  return { ...base, action: "replace", fields, replacement, message };
}

const lossOf = ({ kind, resource: { destruction } }: ResourceKind): string =>
  destruction.holdsData ? `what the ${kind} holds cannot be brought back` : "";

function words({ resource }: ResourceKind, verdict: "forbidden" | { allowedBy: string }): string {
  const annotation = (value: string) => `annotation ${ALLOW_DATA_LOSS}: "${value}"`;
  if (verdict !== "forbidden") return annotation(verdict.allowedBy);
  const loss = resource.destruction.holdsData ? ` and ${annotation("true")}` : "";
  return `replacePolicy: WhenNeeded${loss}`;
}

const driftOf = ({ view: { observation } }: Scene): FieldChange[] =>
  (observation.seen === "present" ? (observation.comparison?.drift ?? []) : []).map(({ field, wanted, found }) => ({
    field,
    from: found,
    to: wanted,
    platform: true,
  }));

interface Decided {
  base: PlanItem;
  candidate: Candidate;
  scene: Scene;
  decision: Decision;
  /** Objects that it refers to and that are created, adopted or replaced by the plan. */
  first: readonly ObjectKey[];
}

/** What a decision means for a person who is about to apply. */
function itemOf({ base, candidate, scene, decision, first }: Decided): PlanItem {
  const { kind, view } = scene;
  const { live, desired } = candidate;
  if (!desired) return deletion(base, scene, decision);
  const spec = specChanges(live?.spec, desired.spec);
  const drift = driftOf(scene);
  const known = new Set(drift.map(({ field }) => field));
  const fields = [...drift, ...spec.filter(({ field }) => !known.has(field))];
  const before = withValues(
    desired.spec,
    drift.map(({ field, from }) => ({ field, value: from })),
  );
  const creation = { ...base, fields: specChanges(undefined, desired.spec), before: undefined, after: first };
  /** What it comes to once what is in the way is gone. */
  const eventually = (): Action => (view.claim ? "change" : view.adopt === undefined ? "create" : "adopt");
  switch (decision.step) {
    case "create":
    case "forget":
      return { ...creation, action: "create", writes: true };
    case "adopt":
      return { ...creation, action: "adopt", fields: [], ...(decision.id !== undefined && { id: decision.id }) };
    case "update":
      return { ...base, action: "change", writes: true, fields, before, after: first };
    case "delete":
    case "inspect":
      return {
        ...base,
        action: "replace",
        writes: true,
        fields,
        before,
        replacement: replacementOf(kind, scene, true),
      };
    case "pause":
      return {
        ...objectOnly(base, live, spec),
        message: "paused: nothing is done until mooring.dev/paused is removed",
      };
    case "wait":
    case "stall":
    case "fail": {
      const { reason, message } = decision;
      if (view.replacement && (reason === "ImmutableFieldChanged" || reason === "DataLossNotAllowed")) {
        return { ...base, action: "replace", fields, before, message, replacement: replacementOf(kind, scene, false) };
      }
      const isAhead = first.length > 0 && DEPENDENT.has(reason);
      if (isAhead) {
        const action = eventually();
        const all = action === "create" ? creation : { ...base, fields, before, after: first };
        return { ...all, action, writes: action !== "adopt", ...(view.adopt !== undefined && { id: view.adopt }) };
      }
      const action = decision.step === "wait" ? "wait" : "blocked";
      return { ...base, action, fields, before, message: `${reason}: ${message}` };
    }
    default:
      return objectOnly(base, live, spec);
  }
}

/** Reasons that another object of the plan may do away with. */
const DEPENDENT: ReadonlySet<string> = new Set([
  "ReferenceNotFound",
  "ReferenceNotReady",
  "AccountNotFound",
  "AccountNotReady",
  "Observing",
  "InvalidSpec",
  "ReferenceNotGranted",
]);

/** The resource stays as it is; of the object something may change. */
const objectOnly = (base: PlanItem, live: KubeObject | undefined, fields: FieldChange[]): PlanItem =>
  fields.length > 0 && live ? { ...base, action: "change", fields, before: base.spec } : { ...base, before: base.spec };

function replacementOf(kind: ResourceKind, { view }: Scene, allowed: boolean): Replacement {
  const { fields = [], why = [], verdict = "allowed" } = view.replacement ?? {};
  return {
    fields,
    why,
    loses: lossOf(kind),
    allowed,
    ...(!allowed && verdict !== "allowed" && { allowedBy: words(kind, verdict) }),
  };
}

function deletion(base: PlanItem, { kind, view, object }: Scene, decision: Decision): PlanItem {
  const item: PlanItem = { ...base, action: "delete", spec: undefined };
  if (decision.step === "release") {
    const kept = decision.reason === "Retained";
    return { ...item, message: decision.message, ...(kept && { before: undefined }) };
  }
  const writes = view.claim !== undefined;
  const loss = lossOf(kind);
  const leaving = view.contents?.leaving ?? [];
  if (decision.step === "wait" && leaving.length > 0) {
    return { ...item, writes, after: leaving, ...(loss !== "" && { message: loss }) };
  }
  if (decision.step === "stall" || decision.step === "wait") {
    return {
      ...item,
      action: decision.step === "stall" ? "blocked" : "wait",
      message: `${decision.reason}: ${decision.message}`,
    };
  }
  return { ...item, writes, ...(loss !== "" && !observes(object) && { message: loss }) };
}
