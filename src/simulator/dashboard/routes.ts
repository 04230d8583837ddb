import type { Route } from "../http/exchange.ts";
import { missing } from "../http/refusal.ts";
import { regions } from "../pipelines/service.ts";
import type { MachineTime } from "../time.ts";
import type { World } from "../world.ts";
import { page, pageHeaders } from "./page.ts";
import { regionOf } from "./region.ts";

/** The page that a pipeline's Grafana address leads to: one per contract and region, for people on this machine. */
export function dashboardRoutes(world: World, machine: MachineTime): Route[] {
  return [
    {
      method: "GET",
      template: "/dashboards/{region}",
      access: "local",
      handle({ params: { region: name = "" }, query, origin }) {
        if (!regions.has(name)) throw missing();
        const filter = { metric: query.get("metric") ?? "", tag: query.get("tag") ?? "" };
        // Senders date their samples by the machine's clock, whatever the platform's time is.
        const region = regionOf(world, name, filter, Math.max(world.clock.now(), machine.now()));
        return { status: 200, headers: pageHeaders, page: page({ world, origin, name, filter, region }) };
      },
    },
  ];
}
