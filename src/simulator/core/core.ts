import type { Route } from "../http/exchange.ts";
import type { World } from "../world.ts";
import { requestRoutes } from "./requests.ts";
import { tableRoutes } from "./routes.ts";
import { serverActionRoutes } from "./server-actions.ts";
import { singleRoutes } from "./single-routes.ts";

/** The core infrastructure API below /cloudapi/v6. */
export function coreRoutes(world: World): Route[] {
  return [...singleRoutes(world), ...tableRoutes(world), ...serverActionRoutes(world), ...requestRoutes(world)].map(
    (route) => ({
      ...route,
      handle(call) {
        const reply = route.handle(call);
        return { ...reply, indent: call.query.get("pretty")?.toLowerCase() !== "false" };
      },
    }),
  );
}
