import type { Route } from "../http/exchange.ts";
import { managedRoutes } from "../managed/routes.ts";
import type { World } from "../world.ts";
import { issueDue } from "./issue.ts";
import { autoCertificateKind, certificateKind, providerKind } from "./kinds.ts";

/** Certificates that were uploaded or issued, what issues them, and with whom. */
export function certificateRoutes(world: World): Route[] {
  const upToDate = { prepare: () => issueDue(world) };
  return [
    ...managedRoutes(world, certificateKind, upToDate),
    ...managedRoutes(world, autoCertificateKind, upToDate),
    ...managedRoutes(world, providerKind),
  ];
}
