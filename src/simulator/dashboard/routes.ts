import type { Route } from "../http/exchange.ts";
import { missing } from "../http/refusal.ts";
import { regions } from "../pipelines/kinds.ts";
import type { MachineTime } from "../time.ts";
import type { Contracts } from "../world.ts";
import { page, pageHeaders } from "./page.ts";
import { regionOf } from "./region.ts";

/** The page that a pipeline's Grafana address leads to: one per contract and region, for people on this machine. */
export function dashboardRoutes(contracts: Contracts, machine: MachineTime): Route[] {
  return ["/dashboards/{region}", "/dashboards/{region}/{contract}"].map(
    (template): Route => ({
      method: "GET",
      template,
      access: "local",
      handle({ params: { region: name = "", contract }, query, origin }) {
        const world = contract === undefined ? contracts.first : contracts.of(Number(contract));
        if (world === undefined || !regions.has(name)) throw missing();
        const filter = { metric: query.get("metric") ?? "", tag: query.get("tag") ?? "" };
        // Senders date their samples by the machine's clock, whatever the platform's time is.
        const region = regionOf(world, name, filter, Math.max(world.clock.now(), machine.now()));
        return { status: 200, headers: pageHeaders, page: page({ world, origin, name, filter, region }) };
      },
    }),
  );
}
