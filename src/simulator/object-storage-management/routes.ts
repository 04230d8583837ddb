import type { Route } from "../http/exchange.ts";
import { managedRoutes } from "../managed/routes.ts";
import { hostRoute } from "../managed/service.ts";
import type { World } from "../world.ts";
import { accessKeyKind, renewSecret } from "./access-keys.ts";
import { managementHost } from "./host.ts";
import { listRegions, readRegion } from "./regions.ts";

/** Keys for the object storage, and where it is. */
export function objectStorageRoutes(world: World): Route[] {
  return [
    ...managedRoutes(world, accessKeyKind),
    hostRoute(world, managementHost, "PUT", "/accesskeys/{accesskeyId}/renew", {
      handle: (call) => renewSecret(world, call),
    }),
    hostRoute(world, managementHost, "GET", "/regions", { handle: (call) => listRegions(world, call) }),
    hostRoute(world, managementHost, "GET", "/regions/{regionName}", { handle: (call) => readRegion(world, call) }),
  ];
}
