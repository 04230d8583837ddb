import { z } from "zod";
import * as shapes from "../shape/billing.ts";
import { pricesIn } from "../shape/money.ts";
import { focus } from "./focus.ts";
import { anything, type ReadRow, type Row, reading } from "./row.ts";

const row = <Shape extends z.ZodRawShape>(given: Omit<ReadRow<Shape>, "group" | "api">): Row =>
  reading({ group: "billing", api: "billing", narrow: "ask for one datacenter or a shorter time", ...given });

const zero = { include_zero: z.boolean().default(false).describe("Show meters with a quantity of zero too.") };
const oneDatacenter = {
  datacenter_id: z.string().max(128).optional().describe("Only this datacenter, from list_datacenters."),
};
const chosen = {
  ...zero,
  ...oneDatacenter,
  group_by: z.enum(["", "meter", "datacenter"]).default("").describe("Sum up by meter, or by datacenter and meter."),
  meter_types: z
    .array(z.string().max(64))
    .max(50)
    .optional()
    .describe("Only these types, for example SERVER, STORAGE, IP."),
  regions: z.array(z.string().max(64)).max(50).optional().describe("Only these regions."),
  top_n: z.int().min(1).max(1000).optional().describe("Only the most expensive meters of all datacenters."),
};
const datacenters = z.looseObject({ datacenters: z.array(z.looseObject({ meters: z.array(z.looseObject({})) })) });
const measured = z.looseObject({ contract_id: z.string(), meter_definitions: z.record(z.string(), z.string()) });

/** Removes the CSV lines, which repeat the rest. */
const withoutCsv = (answer: unknown): unknown => {
  const { evnCSV: _, ...rest } = z.looseObject({ evnCSV: z.unknown().optional() }).parse(answer);
  return rest;
};
const evn = z.looseObject({ datacenters: z.array(z.looseObject({})) });
const trafficOnly = (answer: unknown): unknown =>
  z.object({ metadata: z.unknown().optional(), trafficObj: z.unknown() }).parse(answer);
const traffic = z.looseObject({ trafficObj: z.looseObject({}) });
const use = (name: string, path: string, description: string) =>
  row({
    name,
    path,
    description,
    args: chosen,
    result: measured,
    shape: (answer, args, _, prices) => shapes.utilization(answer, args, pricesIn(prices)),
    second: `${C}/products`,
  });

const C = "/{contract}";

export const billing: readonly Row[] = [
  row({
    name: "get_billing_profile",
    path: "/profile",
    description: "Contracts whose bills the token may read. Start here: the other billing tools need a contract.",
    result: z.looseObject({ companies: z.array(z.looseObject({ contractId: z.string() })) }),
  }),
  row({
    name: "list_billing_invoices",
    path: `${C}/invoices`,
    description: "Invoices of a contract: id, date and amount. Then get_billing_invoice.",
    result: z.looseObject({ invoices: z.array(z.looseObject({ id: z.string() })) }),
  }),
  row({
    name: "list_billing_invoices_by_period",
    path: "/invoices/{period}",
    description: "Invoices of all contracts for one month.",
    result: z.looseObject({ items: z.array(z.looseObject({})) }),
  }),
  row({
    name: "get_billing_invoice",
    path: `${C}/invoices/{invoice_id}`,
    description:
      "One invoice: quantity, rate and amount of each meter by datacenter, and the total. Use it to explain what costs how much.",
    result: z.looseObject({ total: z.looseObject({}), datacenters: z.array(z.looseObject({})) }),
  }),
  row({
    name: "list_billing_evn",
    path: `${C}/evn`,
    description: "Itemised proof of the current month: which resource existed from when to when.",
    result: evn,
    shape: withoutCsv,
  }),
  row({
    name: "list_billing_evn_by_period",
    path: `${C}/evn/{period}`,
    description: "Itemised proof of one month.",
    result: evn,
    shape: withoutCsv,
  }),
  row({
    name: "list_billing_traffic",
    path: `${C}/traffic`,
    description:
      "Traffic in and out by day, by datacenter and by address, of the current month. Who talks to whom: get_flow_log_summary.",
    result: traffic,
    shape: trafficOnly,
  }),
  row({
    name: "list_billing_traffic_by_period",
    path: `${C}/traffic/{period}`,
    description: "Traffic in and out by day of one month.",
    result: traffic,
    shape: trafficOnly,
  }),
  row({
    name: "list_billing_usage",
    path: `${C}/usage`,
    description:
      "Usage and cost so far this month, by datacenter and meter. For single resources use list_billing_utilization.",
    args: { ...zero, ...oneDatacenter },
    result: measured,
    shape: (answer, args, _, prices) => shapes.usage(answer, args, pricesIn(prices)),
    second: `${C}/products`,
  }),
  row({
    name: "get_billing_usage_by_datacenter",
    path: `${C}/usage/{datacenter_id}`,
    description: "Usage of one datacenter so far this month, by meter.",
    args: zero,
    result: datacenters,
    shape: (answer, args, _, prices) => shapes.usage(answer, args, pricesIn(prices)),
    second: `${C}/products`,
  }),
  use(
    "list_billing_utilization",
    `${C}/utilization`,
    "Usage and cost of each resource so far this month. For the most expensive ones set top_n; prices: list_billing_products.",
  ),
  use("list_billing_utilization_by_period", `${C}/utilization/{period}`, "Usage of each resource in one month."),
  use(
    "get_billing_utilization_daily",
    `${C}/utilization/daily/{date}`,
    "Usage of each resource on one day. Compare two days to find growth.",
  ),
  row({
    name: "list_billing_products",
    path: `${C}/products`,
    description:
      "Prices: products whose description contains a keyword, with unit and unit cost. For a whole manifest use get_cost_estimate.",
    args: {
      filter: z.string().min(1).max(128).describe("Keyword in the description, for example core, RAM, SSD, IP."),
    },
    result: z.looseObject({ products: z.array(z.looseObject({ meterId: z.string() })) }),
    narrow: "set a longer filter",
    shape: (answer, { filter }) => shapes.products(answer, filter),
  }),
  {
    name: "get_billing_focus_spec",
    group: "billing",
    description:
      "How the columns of FOCUS 1.3, the common format for cloud costs, follow from these tools. Read it before writing a FOCUS report.",
    args: z.strictObject({}),
    result: anything,
    narrow: "",
    work: { text: focus, as: "document" },
  },
];
