import {
  type DocumentItem,
  itemTitle,
  type PlanDocument,
  priceLine,
  shownFields,
  summaryLine,
} from "../../plan/document.ts";
import type { PlanItem } from "../../plan/item.ts";
import type { Screen } from "../frame/screen.ts";
import { bold, green, grey, red, type Text, yellow } from "../frame/text.ts";

const marks: Record<PlanItem["action"], { mark: string; word: string; colour: (text: string) => Text }> = {
  create: { mark: "+", word: "create", colour: green },
  change: { mark: "~", word: "change", colour: yellow },
  replace: { mark: "!", word: "replace", colour: red },
  adopt: { mark: ">", word: "adopt", colour: green },
  delete: { mark: "-", word: "delete", colour: red },
  wait: { mark: "…", word: "wait", colour: yellow },
  blocked: { mark: "x", word: "blocked", colour: red },
  invalid: { mark: "x", word: "invalid", colour: red },
  unknown: { mark: "?", word: "unknown", colour: yellow },
  none: { mark: " ", word: "no change", colour: grey },
};

/** A plan for people. Unchanged objects are only for `all`, and with -o wide, which leaves out nothing. */
export function writePlan(screen: Screen, plan: PlanDocument, all: boolean): void {
  const wide = screen.format === "wide";
  for (const item of plan.items) if (all || wide || item.action !== "none") writeItem(screen, item, plan);
  screen.line(bold(plan.changes ? "Plan: " : "No change: "), summaryLine(plan));
  if (plan.cost) {
    screen.line(bold("Price: "), priceLine(plan.cost));
    for (const { object, why } of plan.cost.notPriced) screen.line(grey(`  not priced: ${object}: ${why}`));
    screen.line(grey(`  ${plan.cost.basis}`));
  }
  if (plan.others.length > 0) {
    screen.line(grey(`Not of Mooring, not in the plan: ${several(plan.others, wide)}`));
  }
  if (plan.validatedBy === "schemas") {
    screen.line(grey("No cluster: objects were checked by the schemas and rules of this version's CRDs."));
  }
}

const several = (names: readonly string[], all: boolean): string =>
  names.length > 10 && !all ? `${names.slice(0, 10).join(", ")} and ${names.length - 10} more` : names.join(", ");

function writeItem(screen: Screen, item: DocumentItem, { cost }: PlanDocument): void {
  const { mark, word, colour } = marks[item.action];
  const id = item.id === null ? "" : ` (${item.id})`;
  const quiet = item.action === "change" && !item.writes ? grey("  the object only, nothing on the platform") : "";
  screen.line(colour(`${mark} ${word} `), bold(itemTitle(item)), grey(id), quiet);
  const wide = screen.format === "wide";
  for (const { field, from, to } of wide ? item.fields : shownFields(item)) {
    const change = item.action === "create" ? to : `${from || "(none)"} → ${to || "(none)"}`;
    screen.line(`    ${field}: ${change}`);
  }
  const { replacement } = item;
  if (replacement) {
    screen.line(
      red(`    cannot be changed in place: ${replacement.fields.join(", ")}`),
      ` (${replacement.why.join("; ")})`,
    );
    if (replacement.loses !== "") screen.line(red(`    lost: ${replacement.loses}`));
    screen.line(
      replacement.allowed ? "    allowed by spec" : yellow(`    not allowed; to allow it: ${replacement.allowedBy}`),
    );
  }
  if (item.after.length > 0) screen.line(grey(`    after ${item.after.join(", ")}`));
  if (item.message !== null && !(replacement && !replacement.allowed)) screen.line(`    ${item.message}`);
  const { month } = item;
  if (cost && month && (wide || month.before !== month.after)) {
    const before = month.before === month.after ? "" : `${month.before.toFixed(2)} → `;
    screen.line(grey(`    ${before}${month.after.toFixed(2)} ${cost.currency} a month`));
  }
}
