import { z } from "zod";

const catalogue = z.looseObject({
  products: z.array(
    z.looseObject({
      meterId: z.string(),
      unitCost: z.looseObject({ quantity: z.coerce.number(), unit: z.string() }).nullish(),
    }),
  ),
});

/** What a unit of a meter costs. */
export type Prices = ReadonlyMap<string, { unit: number; currency: string }>;

/** The prices of a catalogue; those of an answer that is none are not known. */
export function pricesIn(answer: unknown): Prices {
  const { products } = catalogue.safeParse(answer).data ?? { products: [] };
  return new Map(
    products.flatMap(({ meterId, unitCost }) =>
      unitCost ? [[meterId, { unit: unitCost.quantity, currency: unitCost.unit }] as const] : [],
    ),
  );
}

interface Metered {
  meter_id: string;
  quantity: string | number;
}

/** A meter with what it cost; without a price it is as it was. */
export function withCost<T extends Metered>(meter: T, prices: Prices): T & { cost?: number; currency?: string } {
  const price = prices.get(meter.meter_id);
  if (!price) return meter;
  return { ...meter, cost: Math.round(Number(meter.quantity) * price.unit * 1e6) / 1e6, currency: price.currency };
}

/** The sum of what meters cost, and those that have no price. */
export function totalOf(meters: readonly (Metered & { cost?: number; currency?: string })[]) {
  const unpriced = [...new Set(meters.flatMap(({ meter_id, cost }) => (cost === undefined ? [meter_id] : [])))];
  const currency = meters.find((each) => each.currency !== undefined)?.currency;
  const sum = meters.reduce((total, { cost = 0 }) => total + cost, 0);
  return {
    total_cost: Math.round(sum * 100) / 100,
    ...(currency !== undefined && { currency }),
    ...(unpriced.length > 0 && {
      not_priced: unpriced,
      note: "what has no price in the catalogue is not in total_cost",
    }),
  };
}
