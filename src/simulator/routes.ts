import { activityRoutes } from "./activity/routes.ts";
import { alertRoutes } from "./alerts.ts";
import { loadRoutes } from "./autoscaling/load-routes.ts";
import { autoscalingRoutes } from "./autoscaling/routes.ts";
import { billingRoutes } from "./billing/routes.ts";
import { certificateHost, certificateRoutes } from "./certificate-manager/kinds.ts";
import { coreRoutes } from "./core/core.ts";
import { dashboardRoutes } from "./dashboard/routes.ts";
import { dnsHost } from "./dns/kinds.ts";
import { dnsRoutes } from "./dns/routes.ts";
import type { FaultChooser } from "./faults/chooser.ts";
import { createBuckets } from "./faults/rate-limit.ts";
import type { FlowLogs } from "./flow-logs/flow-logs.ts";
import type { CallCounter } from "./http/calls.ts";
import type { Route } from "./http/exchange.ts";
import { tokenRoutes } from "./identity/routes.ts";
import { inferenceEndpoint, inferenceRoutes } from "./inference/routes.ts";
import { logRoutes } from "./ingest/log-routes.ts";
import { metricPushRoutes } from "./ingest/push/routes.ts";
import { readingRoutes } from "./ingest/reading-routes.ts";
import { endpointOf } from "./managed/service.ts";
import { objectStorageRoutes } from "./object-storage-management/access-keys.ts";
import { managementHost } from "./object-storage-management/regions.ts";
import { services } from "./pipelines/kinds.ts";
import { pipelineRoutes } from "./pipelines/routes.ts";
import { steeringRoutes } from "./steering.ts";
import { streaming } from "./streaming/kinds.ts";
import { streamingRoutes } from "./streaming/routes.ts";
import { machineTime } from "./time.ts";
import type { Contracts, World } from "./world.ts";

export interface RouteParts {
  contracts: Contracts;
  calls: CallCounter;
  faults: FaultChooser;
  flowLogs: ReadonlyMap<World, FlowLogs>;
}

/** Gives the routes of a contract: everything that can be called. */
export function createRoutes({ contracts, calls, faults, flowLogs }: RouteParts): (world: World) => Route[] {
  const inferenceCalls = createBuckets(machineTime);
  return (world) => [
    ...coreRoutes(world),
    ...autoscalingRoutes(world),
    ...pipelineRoutes(world),
    ...streamingRoutes(world),
    ...dnsRoutes(world),
    ...certificateRoutes(world),
    ...billingRoutes(world),
    ...objectStorageRoutes(world),
    ...inferenceRoutes(world, inferenceCalls),
    ...metricPushRoutes(contracts),
    ...activityRoutes(world),
    ...tokenRoutes(world.identity, world.clock),
    ...steeringRoutes(world, { contracts, calls, faults }),
    ...loadRoutes(world),
    ...alertRoutes(world),
    ...(flowLogs.get(world)?.routes ?? []),
    ...logRoutes(contracts),
    ...readingRoutes(world),
    ...dashboardRoutes(contracts, machineTime),
  ];
}

/** The addresses of the products; those of regional products have `{region}` in the place of the slug. */
export const endpointsOf = (api: string, objectStorage: string) => ({
  api,
  objectStorage,
  monitoring: endpointOf(api, services.metrics),
  logging: endpointOf(api, services.logs),
  streaming: endpointOf(api, streaming),
  inference: inferenceEndpoint(api),
  dns: endpointOf(api, dnsHost),
  certificates: endpointOf(api, certificateHost),
  objectStorageManagement: endpointOf(api, managementHost),
});
