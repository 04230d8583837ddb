import {
  type DocumentItem,
  itemTitle,
  type PlanDocument,
  priceLine,
  shownFields,
  summaryLine,
} from "../../plan/document.ts";
import type { PlanItem } from "../../plan/item.ts";
import { visible } from "../frame/text.ts";

const signs: Record<PlanItem["action"], string> = {
  create: "➕ create",
  change: "✏️ change",
  replace: "♻️ replace",
  adopt: "🤝 adopt",
  delete: "🗑️ delete",
  wait: "⏳ wait",
  blocked: "⛔ blocked",
  invalid: "❌ invalid",
  unknown: "❔ unknown",
  none: "no change",
};

/** Escapes external text: no links, images, mentions or tables. */
const plain = (text: string): string =>
  visible(text).replaceAll(/[\\`*_[\]#|<>&~@:]/g, (each) => `&#${each.codePointAt(0)};`);

/** A plan as a comment on a pull request. `missing`: the parts that could not be read. */
export function markdownOf(plan: PlanDocument, missing: readonly string[]): string {
  const changed = plan.items.filter(({ action }) => action !== "none");
  const rows = changed.map((item) => `| ${signs[item.action]} | ${plain(itemTitle(item))} | ${detailsOf(item)} |`);
  return [
    plan.changes ? `### Mooring plan: ${summaryLine(plan)}` : "### Mooring plan: no change",
    ...(rows.length > 0 ? ["", "| | Object | What |", "|---|---|---|", ...rows] : []),
    ...(plan.cost ? ["", `**Price:** ${priceLine(plan.cost)}`, ...notPriced(plan), "", plain(plan.cost.basis)] : []),
    ...(plan.others.length > 0 ? ["", `Not of Mooring: ${plain(plan.others.join(", "))}`] : []),
    ...(missing.length > 0 ? ["", "**Not checked:**", "", ...missing.map((each) => `- ${plain(each)}`)] : []),
    ...(plan.validatedBy === "schemas" ? ["", "Checked without a cluster, by the CRDs of this version."] : []),
  ].join("\n");
}

const notPriced = ({ cost }: PlanDocument): string[] =>
  cost && cost.notPriced.length > 0
    ? ["", `Not priced: ${plain(cost.notPriced.map(({ object, why }) => `${object} (${why})`).join(", "))}`]
    : [];

function detailsOf(item: DocumentItem): string {
  const { replacement, message, after } = item;
  const fields = shownFields(item).map(({ field, from, to }) => {
    const change = item.action === "create" ? plain(to) : `${plain(from || "(none)")} → ${plain(to || "(none)")}`;
    return `${plain(field)}: ${change}`;
  });
  const replaced = replacement
    ? [
        `cannot be changed in place: ${plain(replacement.fields.join(", "))}`,
        ...(replacement.loses === "" ? [] : [`**lost: ${plain(replacement.loses)}**`]),
        replacement.allowed ? "allowed by spec" : `**not allowed; to allow it: ${plain(replacement.allowedBy ?? "")}**`,
      ]
    : [];
  const note = message === null ? [] : [plain(message)];
  return [...fields, ...replaced, ...(after.length > 0 ? [`after ${plain(after.join(", "))}`] : []), ...note].join(
    "<br>",
  );
}
