import type { Method, Reply, Route } from "../http/exchange.ts";
import {
  type RegionalCall as AnyRegionalCall,
  type Service,
  serviceEndpoint,
  serviceHref,
  serviceRoute,
} from "../managed/service.ts";
import type { World } from "../world.ts";
import type { Product } from "./records.ts";

/** The slugs of the regions that have metric and log pipelines. */
export const regions: ReadonlySet<string> = new Set([
  "de-fra",
  "de-txl",
  "es-vit",
  "gb-bhx",
  "gb-lhr",
  "fr-par",
  "us-mci",
]);

export const services: Record<Product, Service> = {
  metrics: { path: "monitoring", regions, privilege: "accessAndManageMonitoring" },
  logs: { path: "logging", regions, privilege: "accessAndManageLogging" },
};

/** The address of a product as the ready line tells it: whoever uses it fills in the region. */
export const endpointOf = (api: string, product: Product) => serviceEndpoint(api, services[product]);

/** The address of something of a product in one region. */
export const hrefOf = (origin: string, product: Product, region: string, path: string) =>
  serviceHref(origin, services[product], region, path);

/** One dashboard per contract and region, for metrics and logs alike. */
export const dashboardOf = ({ isFirst, contractNumber }: World, origin: string, region: string) =>
  `${origin}/dashboards/${region}${isFirst ? "" : `/${contractNumber}`}`;

/** A call to one of the two products. */
export interface RegionalCall extends AnyRegionalCall {
  product: Product;
}

export const regionalRoute = (
  world: World,
  product: Product,
  [method, path, handle]: [Method, string, (call: RegionalCall) => Reply],
): Route => serviceRoute(world, services[product], method, path, { handle: (call) => handle({ ...call, product }) });
