import type { Call, Reply, Route } from "../http/exchange.ts";
import { errorCode, refusal } from "../http/refusal.ts";
import { isAdministrator } from "../identity/privileges.ts";
import type { World } from "../world.ts";
import { contractIdOf, customerIdOf, invoiceById, invoicesIn, invoicesOf } from "./invoices.ts";
import { dayOf, monthOf, periodAt } from "./reckoning.ts";
import { evn, metadataOf, products, traffic, usage, utilization } from "./reports.ts";

/** The usage and the costs of the contract, for its owner and administrators. */
export function billingRoutes(world: World): Route[] {
  const route = (path: string, body: (call: Call) => unknown): Route => ({
    method: "GET",
    template: `/billing${path}`,
    access: "user",
    handle(call): Reply {
      const { contract = String(world.contractNumber) } = call.params;
      if (!isAdministrator(call.caller.user) || Number(contract) !== world.contractNumber) {
        throw refusal(
          403,
          errorCode.denied,
          "Access denied: billing is for the owner and administrators of a contract",
        );
      }
      return { status: 200, body: body(call) };
    },
  });
  const own = "/{contract}";
  const thisMonth = () => periodAt(world.clock.now());
  return [
    route("/intern/ping", () => ({ status: "OK" })),
    route("/profile", () => ({ companies: [{ contractId: contractIdOf(world), customerId: customerIdOf(world) }] })),
    route("/invoices/{period}", ({ params, query }) => {
      const asked = query.get("contractid");
      const isOwn = asked === null || asked === "" || Number(asked) === world.contractNumber;
      return isOwn ? invoicesIn(world, params.period ?? "") : [];
    }),
    route(`${own}/invoices`, () => ({
      metadata: metadataOf(world),
      invoices: invoicesOf(world).map(({ metadata, total }) => ({
        id: metadata.invoiceId,
        date: metadata.createdDate.slice(0, 10),
        amount: total.quantity,
        unit: total.unit,
      })),
    })),
    route(`${own}/invoices/{invoiceId}`, ({ params }) => invoiceById(world, params.invoiceId ?? "")),
    route(`${own}/evn`, () => evn(world)),
    route(`${own}/evn/{period}`, ({ params }) => evn(world, params.period)),
    route(`${own}/traffic`, (call) => traffic(world, call)),
    route(`${own}/traffic/{period}`, (call) => traffic(world, call, call.params.period)),
    route(`${own}/usage`, () => usage(world)),
    route(`${own}/usage/{datacenterId}`, ({ params }) => usage(world, params.datacenterId)),
    route(`${own}/utilization`, (call) => utilization(world, monthOf(thisMonth()), call)),
    route(`${own}/utilization/{period}`, (call) => utilization(world, monthOf(call.params.period ?? ""), call)),
    route(`${own}/utilization/daily/{date}`, (call) => utilization(world, dayOf(call.params.date ?? ""), call)),
    route(`${own}/products`, () => products(world)),
  ];
}
