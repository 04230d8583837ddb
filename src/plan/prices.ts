import { basis, catalogue, currencyOf, priceOf } from "../diagnostics/cost.ts";
import type { PlatformReader } from "../diagnostics/reader.ts";
import { kinds } from "../kinds/index.ts";
import type { PlanItem } from "./item.ts";

/** The monthly cost of the objects of a plan. */
export interface Cost {
  before: number;
  after: number;
  currency: string;
  basis: string;
  /** Objects whose price depends on usage, or is not in the catalogue. */
  notPriced: { object: string; why: string }[];
}

const free: ReadonlySet<string> = new Set(kinds.filter((each) => each.free).map(({ kind }) => kind));

/** Monthly prices per item and in total. */
export async function priceAll(
  items: readonly PlanItem[],
  platform: PlatformReader,
  signal: AbortSignal,
): Promise<{ cost: Cost; months: Map<PlanItem, { before: number; after: number }> }> {
  const prices = await catalogue(platform, signal);
  const months = new Map<PlanItem, { before: number; after: number }>();
  const notPriced: Cost["notPriced"] = [];
  const cents = (value: number) => Math.round(value * 100) / 100;
  for (const item of items) {
    if (free.has(item.kind) || item.action === "invalid") continue;
    const [before, after] = [item.before, item.spec].map((spec) =>
      spec === undefined ? undefined : priceOf(prices, item.kind, spec),
    );
    const shown = after ?? before;
    const unknown = shown?.lines.filter((line) => "note" in line || line.amount === 0) ?? [];
    const isPriced = shown === undefined || (shown.lines.length > 0 && unknown.length === 0);
    if (!isPriced) {
      const why = shown.lines.length === 0 ? "depends on its use" : unknown.map(({ what }) => what).join(", ");
      notPriced.push({ object: `${item.kind} ${item.name}`, why });
    }
    const month = { before: before?.per_month ?? 0, after: after?.per_month ?? 0 };
    // Without a price, a sum of zero would be a lie.
    if (isPriced || month.before + month.after > 0) months.set(item, month);
  }
  const sum = (which: "before" | "after") => cents([...months.values()].reduce((all, each) => all + each[which], 0));
  return {
    months,
    cost: { before: sum("before"), after: sum("after"), currency: currencyOf(prices), basis, notPriced },
  };
}
