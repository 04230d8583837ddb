import { missing } from "../http/refusal.ts";
import { timestamp } from "../time.ts";
import type { World } from "../world.ts";
import { meterOf } from "./meters.ts";
import { byMeter, byPlace, countedIn, dateAt, monthOf, periodAt, rounded, sum } from "./reckoning.ts";

/** The numbers of contract and customer as bodies show them, with ten digits. */
export const contractIdOf = ({ contractNumber }: World) => String(contractNumber).padStart(10, "0");
export const customerIdOf = ({ contractNumber }: World) => String(contractNumber * 3 + 1_000_000).padStart(10, "0");

const euros = (quantity: number) => ({ quantity, unit: "EUR" });

const invoiceIdOf = ({ contractNumber }: World, period: string) => `RE${contractNumber}${period.replace("-", "")}`;

/** The months since the first usage, the newest first; the current one has a draft. */
function periodsOf({ billing, clock }: World): string[] {
  const first = Math.min(...[...billing.intervals()].map(({ from }) => from), Number.POSITIVE_INFINITY);
  if (first === Number.POSITIVE_INFINITY) return [];
  const periods: string[] = [];
  for (let period = periodAt(clock.now()); period >= periodAt(first); period = periodAt(monthOf(period).from - 1)) {
    periods.push(period);
  }
  return periods;
}

/** Each meter is rounded to cents; the total is the sum of the rounded lines. */
export function invoiceOf(world: World, period: string) {
  const span = monthOf(period);
  const datacenters = byPlace(countedIn(world, span)).map(({ place, counted }) => ({
    ...place,
    productGroup: "Cloud",
    meters: byMeter(counted).map(({ meterId, quantity: exact }) => {
      const { desc, unit, productGroup, cost } = meterOf(meterId);
      const quantity = rounded(exact, 6);
      return {
        meterId,
        meterDesc: desc,
        productGroup,
        quantity: { quantity, unit },
        rate: euros(cost),
        amount: euros(rounded(quantity * cost, 2)),
      };
    }),
    rebate: { amount: euros(0) },
  }));
  const amounts = datacenters.flatMap(({ meters }) => meters.map(({ amount }) => amount.quantity));
  return {
    metadata: {
      invoiceId: invoiceIdOf(world, period),
      contractId: contractIdOf(world),
      customerId: customerIdOf(world),
      createdDate: timestamp(Math.min(span.to, world.clock.now())),
      startDate: dateAt(span.from),
      endDate: dateAt(span.to - 1),
      postingPeriod: period,
      finallyPosted: span.to <= world.clock.now(),
    },
    datacenters,
    total: euros(rounded(sum(amounts), 2)),
  };
}

export const invoicesOf = (world: World) => periodsOf(world).map((period) => invoiceOf(world, period));

export function invoiceById(world: World, id: string) {
  const period = periodsOf(world).find((each) => invoiceIdOf(world, each) === id);
  if (period === undefined) throw missing();
  return invoiceOf(world, period);
}

/** The invoices of a month: one, or none before the first usage. */
export function invoicesIn(world: World, period: string) {
  // Refuses a text that is not a month.
  monthOf(period);
  return periodsOf(world).includes(period) ? [invoiceOf(world, period)] : [];
}
