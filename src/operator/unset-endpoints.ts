import type { Kind } from "../kinds/kind.ts";
import { type EndpointName, products } from "../platform/products/products.ts";
import { UsageError } from "../server/usage-error.ts";
import type { Config } from "./config.ts";
import type { Endpoints } from "./endpoints.ts";

/** There is no default platform: the platform, its endpoints, or the endpoints that Accounts may set must be configured. */
export function requirePlatform({ endpoints, allowEndpoints }: Pick<Config, "endpoints" | "allowEndpoints">): void {
  if (Object.keys(endpoints).length > 0 || allowEndpoints.length > 0) return;
  throw new UsageError(
    "no platform is set: start with --platform ionos, or with --endpoint api=URL for a platform with the same interface; with --allow-endpoint PATTERN alone, Accounts name their endpoints themselves",
  );
}

export interface UnsetEndpoint {
  endpoint: EndpointName;
  /** Kinds whose objects cannot be reconciled without it, unless their Account sets it. */
  kinds: string[];
}

export function unsetEndpoints(kinds: readonly Kind[], endpoints: Endpoints): UnsetEndpoint[] {
  const needs = kinds.flatMap((kind) => neededBy(kind).map((endpoint) => ({ endpoint, kind: kind.kind })));
  const unset = needs.filter(({ endpoint }) => endpoints[endpoint] === undefined);
  return [...Map.groupBy(unset, ({ endpoint }) => endpoint)].map(([endpoint, all]) => ({
    endpoint,
    kinds: all.map(({ kind }) => kind),
  }));
}

function neededBy({ resource, task }: Kind): EndpointName[] {
  const { product, hosts = [] } = resource?.place ?? {};
  return [...(product ? [products[product].endpoint] : []), ...hosts, ...(task?.hosts ?? [])];
}

/** One line for the log. */
export const unsetInWords = (unset: readonly UnsetEndpoint[]): string =>
  `no endpoint is set for ${unset.map(({ endpoint, kinds }) => `${endpoint} (${kinds.join(", ")})`).join(", ")}: objects of these kinds need it in spec.endpoints of their Account; set it with --endpoint NAME=URL, or all with --platform`;
