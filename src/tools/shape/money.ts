import { z } from "zod";

const catalogue = z.looseObject({
  products: z.array(
    z.looseObject({
      meterId: z.string(),
      unitCost: z.looseObject({ quantity: z.coerce.number(), unit: z.string() }).nullish(),
    }),
  ),
});

/** Prices per unit by meter. */
export type Prices = ReadonlyMap<string, { unit: number; currency: string }>;

/** The prices of a catalogue; empty for any other answer. */
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

/** A meter with its cost; unchanged if it has no price. */
export function withCost<T extends Metered>(meter: T, prices: Prices): T & { cost?: number; currency?: string } {
  const price = prices.get(meter.meter_id);
  if (!price) return meter;
  return { ...meter, cost: Math.round(Number(meter.quantity) * price.unit * 1e6) / 1e6, currency: price.currency };
}

/** The total cost, and the meters without a price. */
export function totalOf(meters: readonly (Metered & { cost?: number; currency?: string })[]) {
  const unpriced = [...new Set(meters.flatMap(({ meter_id, cost }) => (cost === undefined ? [meter_id] : [])))];
  const currency = meters.find((each) => each.currency !== undefined)?.currency;
  const sum = meters.reduce((total, { cost = 0 }) => total + cost, 0);
  return {
    total_cost: Math.round(sum * 100) / 100,
    ...(currency !== undefined && { currency }),
    ...(unpriced.length > 0 && {
      not_priced: unpriced,
      note: "meters without a price in the catalogue are not in total_cost",
    }),
  };
}
