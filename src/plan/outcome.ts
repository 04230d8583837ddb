import { objectOf } from "../engine/accounts/accounts.ts";
import type { Decision } from "../engine/decide/decision.ts";
import type { Context, Verdict } from "../engine/observe/view.ts";
import { ALLOW_DATA_LOSS } from "../engine/state/names.ts";
import { type ObjectKey, observes } from "../engine/state/object.ts";
import { hasResource, type Kind, type ResourceKind } from "../kinds/kind.ts";
import type { KubeObject } from "../kube/resource.ts";
import type { Action, FieldChange, PlanItem, Replacement } from "./item.ts";
import { type Absent, absenceOf } from "./references.ts";
import { specChanges, withValues } from "./spec-changes.ts";

/** One object of a plan: in the cluster now, and after the apply. */
export interface Candidate {
  kind: Kind;
  live: KubeObject | undefined;
  /** Has the status of the live object. Undefined: the object is deleted. */
  desired: KubeObject | undefined;
  /** The reason of a refusal by the API server. */
  refused?: string;
  /** The caller may not read the object in the cluster. */
  isHidden?: boolean;
  /** The refusal is only about fields that a replacement may change. */
  isReplaceable?: boolean;
}

export function baseOf({ kind, live, desired }: Candidate): PlanItem {
  const metadata: KubeObject["metadata"] = (desired ?? live)?.metadata ?? { name: "" };
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

/** The item of a kind without a resource: only the object changes. An Account stays while it is used. */
export function objectItem(
  base: PlanItem,
  live: KubeObject | undefined,
  desired: KubeObject | undefined,
  users: readonly ObjectKey[],
): PlanItem {
  if (!desired && users.length > 0) {
    return { ...base, action: "blocked", message: `InUse: still used by ${users.join(", ")}` };
  }
  if (!desired) return { ...base, action: "delete" };
  const fields = specChanges(live?.spec, desired.spec);
  if (!live) return { ...base, action: "create", fields };
  return fields.length > 0 ? { ...base, action: "change", fields } : base;
}

/** The item of an object that the caller may not read. */
export function hiddenItem({ kind }: Candidate, base: PlanItem): PlanItem {
  const where = base.namespace === undefined ? "" : ` in namespace ${base.namespace}`;
  const message = `whether it exists is not known: you may not read ${kind.plural}${where}`;
  return { ...base, action: "unknown", spec: undefined, message };
}

/** A refused change of immutable fields alone is a replacement that must be allowed first. */
export function refusal({ kind, live, desired, isReplaceable }: Candidate, base: PlanItem, message: string): PlanItem {
  const fields = specChanges(live?.spec, desired?.spec);
  const fixed = Object.keys(kind.immutable).filter((name) =>
    fields.some(({ field }) => field === name || field.startsWith(`${name}.`)),
  );
  if (!isReplaceable || fixed.length === 0 || !hasResource(kind)) return { ...base, action: "invalid", message };
  const why = [...new Set(fixed.map((field) => kind.immutable[field] ?? ""))];
  const replacement = {
    fields: fixed,
    why,
    loses: lossOf(kind),
    allowed: false,
    allowedBy: permission(kind, Object(desired?.spec).externalId === undefined ? "forbidden" : "kept"),
  };
  return { ...base, action: "replace", fields, replacement, message };
}

const lossOf = ({ kind, resource: { destruction } }: ResourceKind): string =>
  destruction.holdsData ? `what the ${kind} holds cannot be restored` : "";

/** The setting that allows a replacement. */
function permission({ resource }: ResourceKind, verdict: Exclude<Verdict, "final" | "allowed">): string {
  const annotation = (value: string) => `annotation ${ALLOW_DATA_LOSS}: "${value}"`;
  if (typeof verdict === "object") return annotation(verdict.allowedBy);
  const complete = verdict === "kept" ? "a complete spec without externalId, " : "";
  const loss = resource.destruction.holdsData ? ` and ${annotation("true")}` : "";
  return `${complete}replacePolicy: WhenNeeded${loss}`;
}

export const driftOf = ({
  view: {
    resource: { observation },
  },
}: Context): FieldChange[] =>
  (observation.seen === "present" ? (observation.comparison?.drift ?? []) : []).map(({ field, wanted, found }) => ({
    field,
    from: found,
    to: wanted,
    platform: true,
  }));

interface Decided {
  base: PlanItem;
  candidate: Candidate;
  context: Context;
  decision: Decision;
  /** Referenced objects that the plan creates, adopts or replaces; the Account is one of them. */
  first: readonly ObjectKey[];
  /** A referenced object waits itself, or cannot be applied. */
  isStuck: boolean;
  /** The first reference to an object that is neither in the cluster nor in the files. */
  absent: Absent | undefined;
  /** For a deletion: objects that stay and use the resource. */
  users: readonly ObjectKey[];
  /** The caller sees every Account that the object may use. */
  seesAccounts: boolean;
}

/** Turns a decision of the engine into an item of the plan. */
export function itemOf(decided: Decided): PlanItem {
  const { base, candidate, context, decision, first, isStuck, absent, seesAccounts, users } = decided;
  const { kind, view } = context;
  const { live, desired } = candidate;
  if (!desired) return deletion(base, context, decision, users);
  const specFields = specChanges(live?.spec, desired.spec);
  const drift = driftOf(context);
  const drifted = new Set(drift.map(({ field }) => field));
  const fields = [...drift, ...specFields.filter(({ field }) => !drifted.has(field))];
  const exists = view.resource.claim !== undefined || view.spec.adopt !== undefined;
  const values = drift.map(({ field, from }) => ({ field, value: from }));
  const before = exists ? withValues(desired.spec, values) : undefined;
  // A replaced resource has the values of the old spec.
  const replaced = exists ? withValues(live?.spec ?? desired.spec, values) : undefined;
  const creation = { ...base, fields: specChanges(undefined, desired.spec), before: undefined, after: first };
  const replacing = (allowed: boolean): PlanItem => {
    const replacement = replacementOf(kind, context, allowed);
    return { ...base, action: "replace", fields, before: replaced, replacement };
  };
  /** The action once the obstacle is gone. */
  const eventually = (): Action =>
    view.resource.claim ? "change" : view.spec.adopt === undefined ? "create" : "adopt";
  switch (decision.step) {
    case "create":
      return { ...creation, action: "create", writes: true };
    case "adopt":
      return { ...creation, action: "adopt", fields: [], ...(decision.id !== undefined && { id: decision.id }) };
    case "update": {
      // An annotation may ask for a write that no field shows, such as a restore.
      const { action: write, note } = decision.operation;
      const message = [`the operator will ${write}`, ...(note === undefined ? [] : [note])].join("; ");
      return {
        ...base,
        action: "change",
        writes: true,
        fields,
        before,
        after: first,
        ...(drift.length === 0 && { message }),
      };
    }
    case "delete":
    case "inspect":
    // A key is due only where spec asks for another one: a plan leaves out what time asks for.
    case "renew":
      return { ...replacing(true), writes: true, after: first };
    case "pause":
      return {
        ...objectOnly(base, live, specFields),
        message: "paused: nothing is done until mooring.dev/paused is removed",
      };
    case "wait":
    case "stall":
    case "fail": {
      const { reason, message } = decision;
      const { verdict = "final" } = view.spec.replacement ?? {};
      // An adopted resource stays: spec is wrong about it, or asks for a replacement that nothing allows as it is.
      const isFixed = verdict === "final" || verdict === "kept";
      if (!isFixed && (reason === "ImmutableFieldChanged" || reason === "DataLossNotAllowed")) {
        return { ...replacing(false), message };
      }
      const { obstacle, key: account } = view.account;
      const resolves = obstacle ? account !== undefined && first.includes(objectOf(account)) : first.length > 0;
      const isResolvedByPlan = resolves && DEPENDENT.has(reason) && !(isStuck && reason === "ReferenceNotReady");
      if (absent && (isResolvedByPlan || HIDES_ABSENCE.has(reason))) {
        return { ...base, fields, before, ...absenceOf(absent) };
      }
      if (isResolvedByPlan) {
        const action = eventually();
        const shown = action === "adopt" ? [] : fields;
        const item = action === "create" ? creation : { ...base, fields: shown, before, after: first };
        return {
          ...item,
          action,
          writes: action !== "adopt",
          ...(view.spec.adopt !== undefined && { id: view.spec.adopt }),
        };
      }
      // Another reason is one that the operator will find as well.
      if (obstacle?.reason === "AccountNotReady" || (obstacle && !seesAccounts)) {
        return withoutPlatform(eventually(), { ...creation, message }, base, live, specFields);
      }
      const action = decision.step === "wait" ? "wait" : "blocked";
      return { ...base, action, fields, before, message: `${reason}: ${message}` };
    }
    default:
      return objectOnly(base, live, specFields);
  }
}

/** The item without a reading of the platform. */
function withoutPlatform(
  action: Action,
  { message = "", ...creation }: PlanItem,
  base: PlanItem,
  live: KubeObject | undefined,
  specFields: FieldChange[],
): PlanItem {
  const note = `not compared with the platform: ${message}`;
  if (action === "change") {
    return { ...objectOnly(base, live, specFields), writes: specFields.length > 0, message: note };
  }
  return { ...creation, action, writes: action === "create", message: note };
}

/** Reasons that another object of the plan may resolve. */
const DEPENDENT: ReadonlySet<string> = new Set([
  "ReferenceNotFound",
  "ReferenceNotReady",
  "AccountNotFound",
  "AccountNotReady",
  "Observing",
  "InvalidSpec",
]);

/** Reasons of which an absent reference is the cause, or the next one. */
const HIDES_ABSENCE: ReadonlySet<string> = new Set(["ReferenceNotFound", "ReferenceNotReady", "AccountNotReady"]);

/** The resource stays unchanged; the object may change. */
const objectOnly = (base: PlanItem, live: KubeObject | undefined, fields: FieldChange[]): PlanItem =>
  fields.length > 0 && live ? { ...base, action: "change", fields, before: base.spec } : { ...base, before: base.spec };

function replacementOf(kind: ResourceKind, { view }: Context, allowed: boolean): Replacement {
  const { fields = [], why = [], verdict = "allowed" } = view.spec.replacement ?? {};
  return {
    fields,
    why,
    loses: lossOf(kind),
    allowed,
    ...(!allowed && verdict !== "allowed" && verdict !== "final" && { allowedBy: permission(kind, verdict) }),
  };
}

function deletion(
  base: PlanItem,
  { kind, view, object }: Context,
  decision: Decision,
  users: readonly ObjectKey[],
): PlanItem {
  const item: PlanItem = { ...base, action: "delete", spec: undefined };
  if (decision.step === "release") {
    const kept = decision.reason === "Retained";
    return { ...item, message: decision.message, ...(kept && { before: undefined }) };
  }
  const writes = view.resource.claim !== undefined;
  const leaving = view.resource.contents?.leaving ?? [];
  const isWaiting = decision.step === "wait" && leaving.length > 0;
  if (!isWaiting && (decision.step === "stall" || decision.step === "wait")) {
    const message = `${decision.reason}: ${decision.message}`;
    const unnamed = users.filter((each) => !message.includes(each));
    const more = unnamed.length > 0 ? `; used by ${unnamed.join(", ")}` : "";
    return { ...item, action: decision.step === "stall" ? "blocked" : "wait", message: `${message}${more}` };
  }
  const used = users.length > 0 ? [`still used by ${users.join(", ")}, which the plan does not delete`] : [];
  const loss = observes(object) ? "" : lossOf(kind);
  const message = [...(loss === "" ? [] : [loss]), ...used].join("; ");
  return { ...item, writes, ...(isWaiting && { after: leaving }), ...(message !== "" && { message }) };
}
