import type { Route } from "../http/exchange.ts";
import type { World } from "../world.ts";
import { kubernetesRoutes } from "./kubernetes-routes.ts";
import { managed, managementRoutes } from "./management-routes.ts";
import { requestRoutes } from "./requests.ts";
import { tableRoutes } from "./routes.ts";
import { serverActionRoutes } from "./server-actions.ts";
import { sharedResourceRoutes } from "./shared-resources.ts";
import { singleRoutes } from "./single-routes.ts";
import { snapshotActionRoutes } from "./snapshot-actions.ts";

/** The core infrastructure API below /cloudapi/v6. */
export function coreRoutes(world: World): Route[] {
  const routes = [
    ...singleRoutes(world),
    ...tableRoutes(world),
    ...serverActionRoutes(world),
    ...snapshotActionRoutes(world),
    ...requestRoutes(world),
    ...managementRoutes(world),
    ...kubernetesRoutes(world),
    ...sharedResourceRoutes(world),
  ];
  return routes
    .map((each) => managed(world, each))
    .map((route) => ({
      ...route,
      handle(call) {
        const reply = route.handle(call);
        return { ...reply, indent: call.query.get("pretty")?.toLowerCase() !== "false" };
      },
    }));
}
