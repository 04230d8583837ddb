import type { Call, Method, Reply, Route } from "../http/exchange.ts";
import { found, managedRoutes } from "../managed/routes.ts";
import { hostRoute } from "../managed/service.ts";
import type { Product } from "../records/pipelines.ts";
import type { World } from "../world.ts";
import { listCentrals, readCentral, switchCentral } from "./central.ts";
import { pipelineKinds, rotateKey, services } from "./kinds.ts";

type Handle = (world: World, product: Product, call: Call) => Reply;

/** Metric and log pipelines with their central switches, below one path per product and region. */
export function pipelineRoutes(world: World): Route[] {
  return (["metrics", "logs"] as const).flatMap((product) => {
    const route = (method: Method, path: string, handle: Handle) =>
      hostRoute(world, services[product], method, `/{region}${path}`, {
        handle: (call) => handle(world, product, call),
      });
    return [
      ...managedRoutes(world, pipelineKinds[product]),
      route("POST", "/pipelines/{pipelineId}/key", renewKey),
      route("GET", "/central", listCentrals),
      ...(world.forms.described ? [route("PUT", "/central", switchCentral)] : []),
      ...(world.forms.public
        ? [route("GET", "/central/{centralId}", readCentral), route("PUT", "/central/{centralId}", switchCentral)]
        : []),
    ];
  });
}

const renewKey: Handle = (world, product, call) => ({
  status: 201,
  body: { key: rotateKey(world, call, found(world, pipelineKinds[product], call)) },
});
