import type { FieldChange, PlanItem, Replacement } from "./item.ts";
import type { Plan } from "./make.ts";
import type { Cost } from "./prices.ts";

/**
 * A plan as a document for programs; docs/plan.md describes every field. Fields are added, never renamed or removed.
 */
export interface PlanDocument {
  apiVersion: "plan.mooring.dev/v1";
  changes: boolean;
  validatedBy: Plan["validatedBy"];
  summary: Record<PlanItem["action"], number>;
  items: DocumentItem[];
  cost: Cost | null;
  others: string[];
}

export interface DocumentItem {
  kind: string;
  namespace: string | null;
  name: string;
  action: PlanItem["action"];
  writes: boolean;
  id: string | null;
  fields: FieldChange[];
  after: string[];
  replacement: Replacement | null;
  message: string | null;
  month: { before: number; after: number } | null;
}

const noItems = {
  create: 0,
  change: 0,
  replace: 0,
  adopt: 0,
  delete: 0,
  wait: 0,
  blocked: 0,
  invalid: 0,
  unknown: 0,
  none: 0,
};

export function documentOf({ items, months, cost, others, validatedBy, changes }: Plan): PlanDocument {
  const summary = { ...noItems };
  for (const { action } of items) summary[action] += 1;
  return {
    apiVersion: "plan.mooring.dev/v1",
    changes,
    validatedBy,
    summary,
    items: items.map((item) => ({
      kind: item.kind,
      namespace: item.namespace ?? null,
      name: item.name,
      action: item.action,
      writes: item.writes,
      id: item.id ?? null,
      fields: [...item.fields],
      after: [...item.after],
      replacement: item.replacement ?? null,
      message: item.message ?? null,
      month: months.get(item) ?? null,
    })),
    cost: cost ?? null,
    others,
  };
}

/** 0: no change. 2: changes. 1: the API server would refuse an object, or the caller may not read it. */
export const exitCodeOf = ({ changes, summary }: PlanDocument): number =>
  summary.invalid + summary.unknown > 0 ? 1 : changes ? 2 : 0;

const words: readonly [action: PlanItem["action"], words: string][] = [
  ["create", "to create"],
  ["change", "to change"],
  ["replace", "to replace"],
  ["adopt", "to adopt"],
  ["delete", "to delete"],
  ["wait", "waiting"],
  ["blocked", "blocked"],
  ["invalid", "invalid"],
  ["unknown", "unknown"],
];

/** `2 to create, 1 to change, 7 unchanged`. */
export function summaryLine({ summary }: PlanDocument): string {
  const counts = words.filter(([action]) => summary[action] > 0).map(([action, text]) => `${summary[action]} ${text}`);
  return [...counts, `${summary.none} unchanged`].join(", ");
}

export const priceLine = ({ before, after, currency }: Cost): string => {
  const change = Math.round((after - before) * 100) / 100;
  return `${before.toFixed(2)} → ${after.toFixed(2)} ${currency} a month (${change < 0 ? "" : "+"}${change.toFixed(2)})`;
};

export const itemTitle = ({ kind, namespace, name }: DocumentItem): string =>
  `${kind} ${namespace === null ? "" : `${namespace}/`}${name}`;

/** Hides policy fields of new objects, which say nothing to people. */
export const shownFields = ({ action, fields }: DocumentItem): FieldChange[] =>
  action === "create" ? fields.filter(({ field }) => !/Policy$/.test(field)) : fields;
