import type { Route } from "../http/exchange.ts";
import type { World } from "../world.ts";
import { kubernetesRoutes } from "./routes/kubernetes-routes.ts";
import { requestRoutes } from "./routes/request-routes.ts";
import { serverActionRoutes } from "./routes/server-actions.ts";
import { sharedResourceRoutes } from "./routes/shared-resources.ts";
import { singleRoutes } from "./routes/single-routes.ts";
import { snapshotActionRoutes } from "./routes/snapshot-actions.ts";
import { tableRoutes } from "./routes/table-routes.ts";
import { managementRoutes, withUserRights } from "./routes/user-routes.ts";

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
    .map((each) => withUserRights(world, each))
    .map((route) => ({
      ...route,
      handle(call) {
        const reply = route.handle(call);
        return { ...reply, indent: call.query.get("pretty")?.toLowerCase() !== "false" };
      },
    }));
}
