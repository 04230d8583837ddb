import { z } from "zod";
import { type Prices, totalOf, withCost } from "./money.ts";

const amount = z.looseObject({ quantity: z.union([z.string(), z.number()]), unit: z.string() });
const text = z.string().nullish();
const meter = z.looseObject({
  meterId: z.string(),
  meterDesc: text,
  type: text,
  region: text,
  resourceId: text,
  serverId: text,
  name: text,
  quantity: amount,
});
const report = z.looseObject({
  startDate: text,
  endDate: text,
  metadata: z.looseObject({ contractId: z.union([z.string(), z.number()]).nullish() }).nullish(),
  datacenters: z.array(z.looseObject({ id: z.string(), name: text, location: text, meters: z.array(meter).nullish() })),
});
type Meter = z.output<typeof meter>;

export interface Selection {
  include_zero?: boolean | undefined;
  datacenter_id?: string | undefined;
  meter_types?: string[] | undefined;
  regions?: string[] | undefined;
  group_by?: "" | "meter" | "datacenter" | undefined;
  top_n?: number | undefined;
}

const sixDecimals = (value: number) => Math.round(value * 1e6) / 1e6;
const isAmong = (wanted: string[] | undefined, value: string | null | undefined) =>
  wanted === undefined || wanted.length === 0 || wanted.some((each) => each.toLowerCase() === value?.toLowerCase());

/** The report, reduced to the requested meters. */
function selected(answer: unknown, selection: Selection) {
  const { startDate, endDate, metadata, datacenters } = report.parse(answer);
  const chosen = datacenters
    .filter(({ id }) => selection.datacenter_id === undefined || id === selection.datacenter_id)
    .map(({ meters, ...datacenter }) => ({
      ...datacenter,
      meters: (meters ?? []).filter(
        ({ quantity, type, region }) =>
          (selection.include_zero || Number(quantity.quantity) !== 0) &&
          isAmong(selection.meter_types, type) &&
          isAmong(selection.regions, region),
      ),
    }))
    .filter(({ meters }) => selection.include_zero || meters.length > 0);
  const all = chosen.flatMap(({ meters }) => meters);
  const head = {
    start_date: startDate ?? "",
    end_date: endDate ?? "",
    contract_id: String(metadata?.contractId ?? ""),
    meter_definitions: Object.fromEntries(all.map(({ meterId, meterDesc }) => [meterId, meterDesc ?? ""])),
  };
  return { head, chosen };
}

const none: Prices = new Map();

export function usage(answer: unknown, selection: Selection, prices = none): unknown {
  const { head, chosen } = selected(answer, selection);
  const datacenters = chosen.map(({ id, name, location, meters }) => ({
    id,
    name,
    location,
    meters: meters.map(({ meterId, quantity: { quantity, unit } }) =>
      withCost({ meter_id: meterId, quantity: String(quantity), unit }, prices),
    ),
  }));
  return { ...head, datacenters, ...totalOf(datacenters.flatMap(({ meters }) => meters)) };
}

const meterOf = ({ meterId, type, region, resourceId, serverId, name, quantity }: Meter) => ({
  meter_id: meterId,
  type,
  region,
  resource_id: resourceId,
  server_id: serverId,
  name,
  quantity: sixDecimals(Number(quantity.quantity)),
  unit: quantity.unit,
});

function sums(meters: Meter[]) {
  const byMeter = new Map<string, { meter_id: string; type: Meter["type"]; quantity: number; unit: string }>();
  for (const { meterId, type, quantity } of meters) {
    const sum = byMeter.get(meterId) ?? { meter_id: meterId, type, quantity: 0, unit: quantity.unit };
    byMeter.set(meterId, { ...sum, quantity: sixDecimals(sum.quantity + Number(quantity.quantity)) });
  }
  return [...byMeter.values()];
}

/** With top_n: the most expensive meters; without prices, those with the highest usage. */
export function utilization(answer: unknown, selection: Selection, prices = none): unknown {
  const { head, chosen } = selected(answer, selection);
  const priced = <T extends { meter_id: string; quantity: number }>(meters: T[]) =>
    meters.map((each) => withCost(each, prices));
  const all = chosen.flatMap(({ id, name, meters }) =>
    priced(meters.map((each) => ({ ...meterOf(each), dc_id: id, dc_name: name }))),
  );
  const money = totalOf(all);
  if (selection.group_by === "meter") {
    return { ...head, meters: priced(sums(chosen.flatMap(({ meters }) => meters))), ...money };
  }
  if (selection.group_by === "datacenter") {
    const datacenters = chosen.map(({ id, name, meters }) => ({ id, name, meters: priced(sums(meters)) }));
    return { ...head, datacenters, ...money };
  }
  if (selection.top_n !== undefined) {
    const top = all.sort((a, b) => (b.cost ?? 0) - (a.cost ?? 0) || b.quantity - a.quantity);
    return { ...head, top_meters: top.slice(0, selection.top_n), ...money };
  }
  const datacenters = chosen.map(({ id, name, meters }) => ({ id, name, meters: priced(meters.map(meterOf)) }));
  return { ...head, datacenters, ...money };
}

const catalogue = z.looseObject({
  products: z.array(z.looseObject({ meterDesc: text, deprecated: z.boolean().nullish() })),
});

export function products(answer: unknown, filter: string): unknown {
  const found = catalogue
    .parse(answer)
    .products.filter(
      ({ meterDesc, deprecated }) => !deprecated && meterDesc?.toLowerCase().includes(filter.toLowerCase()),
    );
  return { appliedFilter: filter, matchCount: found.length, products: found };
}
